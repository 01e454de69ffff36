package serve

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// seconds are the buckets of times.
var seconds = []float64{0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// escaped is a value of a label.
var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// metric is the name of a metric with labels: names and values, in pairs.
func metric(name string, labels ...string) string {
	var pairs []string
	for pair := range slices.Chunk(labels, 2) {
		pairs = append(pairs, pair[0]+`="`+escaped.Replace(pair[1])+`"`)
	}
	return name + "{" + strings.Join(pairs, ",") + "}"
}

// questionOf is the last part of a path: decide, why, next.
func questionOf(r *http.Request) string { return path.Base(r.Pattern) }

// took counts how long an answer took once it had its turn.
func (s *server) took(question string, d time.Duration) {
	s.counted.GetOrCreatePrometheusHistogramExt(metric("cede_answer_seconds", "question", question), seconds).Update(d.Seconds())
}

// count counts an answer that is given.
func (s *server) count(question string, value any, err error) {
	s.counted.GetOrCreateCounter(metric("cede_answers_total", "question", question, "outcome", outcomeOf(value, err))).Inc()
}

// outcomeOf is the outcome of an answer; of one without, answered; of none, late or refused.
func outcomeOf(value any, err error) string {
	switch {
	case err != nil && statusOf(err) == http.StatusServiceUnavailable:
		return "late"
	case err != nil:
		return "refused"
	}
	switch a := value.(type) {
	case Why:
		return a.Verdict.Outcome
	case Answer:
		return a.Decision.Outcome.String()
	case Explained:
		return a.Decision.Outcome.String()
	case Drained:
		return a.Verdict
	}
	return "answered"
}

// metrics writes what is counted, and what waits in the cluster now, as Prometheus reads it. What waits is left out if that takes too
// long: then cede_waiting_known is 0.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	var text bytes.Buffer
	s.counted.WritePrometheus(&text)
	gauge := func(name string, value any) { fmt.Fprintf(&text, "%s %v\n", name, value) }
	s.feed.mu.Lock()
	gauge("cede_listeners", s.feed.listeners)
	s.feed.mu.Unlock()
	if s.Read != nil {
		at, failed := s.Read()
		gauge("cede_snapshot_age_seconds", time.Since(at).Seconds())
		gauge("cede_read_failures_total", failed)
	}
	c := s.Cluster()
	if c.Doubts != nil {
		doubts := c.Doubts()
		for _, field := range slices.Sorted(maps.Keys(doubts)) {
			gauge(metric("cede_doubts", "field", field), doubts[field])
		}
	}
	known := 0
	if s.waiting(r, gauge) == nil {
		known = 1
	}
	gauge("cede_waiting_known", known)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = text.WriteTo(w) // the client is gone
}

// waiting writes how many workloads of each queue wait with each outcome.
func (s *server) waiting(r *http.Request, gauge func(name string, value any)) error {
	if s.Cluster().List == nil {
		return errors.ErrUnsupported
	}
	value, err := s.answered(r.Context(), "workloads", listPath, s.all)
	if err != nil {
		return err
	}
	type kind struct{ queue, outcome string }
	all, count := value.(*List), map[kind]int{}
	for i := range all.Workloads {
		w := &all.Workloads[i]
		count[kind{w.Queue, w.Outcome}]++
	}
	byName := func(a, b kind) int { return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.outcome, b.outcome)) }
	for _, k := range slices.SortedFunc(maps.Keys(count), byName) {
		gauge(metric("cede_waiting_workloads", "queue", k.queue, "outcome", k.outcome), count[k])
	}
	gauge("cede_waiting_workloads_not_looked_at", all.More)
	return nil
}
