package serve

import (
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// counted is what the server counts while it runs.
type counted struct {
	registry         *prometheus.Registry
	answers, changes *prometheus.CounterVec
	seconds          *prometheus.HistogramVec
}

func newCounted() *counted {
	c := &counted{registry: prometheus.NewRegistry()}
	with := promauto.With(c.registry)
	c.answers = with.NewCounterVec(prometheus.CounterOpts{Name: "cede_answers_total", Help: "Answers by question and outcome."}, []string{"question", "outcome"})
	c.changes = with.NewCounterVec(prometheus.CounterOpts{Name: "cede_changes_total", Help: "Changes of answers by kind."}, []string{"change"})
	c.seconds = with.NewHistogramVec(prometheus.HistogramOpts{
		Name: "cede_answer_seconds", Help: "How long an answer took once it had its turn.", Buckets: []float64{0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
	}, []string{"question"})
	return c
}

// gauges are what one reading of the metrics finds.
type gauges struct {
	registry *prometheus.Registry
	vectors  map[string]*prometheus.GaugeVec
}

// set sets a gauge with labels: names and values, in pairs.
func (g *gauges) set(name, help string, value float64, labels ...string) {
	var names, values []string
	for pair := range slices.Chunk(labels, 2) {
		names, values = append(names, pair[0]), append(values, strings.ToValidUTF8(pair[1], "\uFFFD"))
	}
	if g.vectors[name] == nil {
		g.vectors[name] = promauto.With(g.registry).NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, names)
	}
	g.vectors[name].WithLabelValues(values...).Set(value)
}

// questionOf is the last part of a path: decide, why, next.
func questionOf(r *http.Request) string { return path.Base(r.Pattern) }

// took counts how long an answer took once it had its turn.
func (s *server) took(question string, d time.Duration) {
	s.counted.seconds.WithLabelValues(question).Observe(d.Seconds())
}

// count counts an answer that is given.
func (s *server) count(question string, value any, err error) {
	s.counted.answers.WithLabelValues(question, outcomeOf(value, err)).Inc()
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
	now := &gauges{registry: prometheus.NewRegistry(), vectors: map[string]*prometheus.GaugeVec{}}
	s.feed.mu.Lock()
	listeners := s.feed.listeners
	s.feed.mu.Unlock()
	now.set("cede_listeners", "Clients that listen for changes.", float64(listeners))
	if s.Read != nil {
		at, failed := s.Read()
		now.set("cede_snapshot_age_seconds", "The age of the cluster's state.", time.Since(at).Seconds())
		promauto.With(now.registry).NewCounterFunc(prometheus.CounterOpts{Name: "cede_read_failures_total", Help: "Readings of the cluster that failed."},
			func() float64 { return float64(failed) })
	}
	c := s.Cluster()
	if c.Doubts != nil {
		for field, n := range c.Doubts() {
			now.set("cede_doubts", "Doubts by the field that is not modelled.", float64(n), "field", field)
		}
	}
	known := 0.0
	if s.waiting(r, now) == nil {
		known = 1
	}
	now.set("cede_waiting_known", "1 if the workloads that wait are counted here, 0 if that took too long.", known)
	promhttp.HandlerFor(prometheus.Gatherers{s.counted.registry, now.registry}, promhttp.HandlerOpts{}).ServeHTTP(w, r)
}

// waiting writes how many workloads of each queue wait with each outcome.
func (s *server) waiting(r *http.Request, now *gauges) error {
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
	for k, n := range count {
		now.set("cede_waiting_workloads", "Workloads that wait, by queue and outcome.", float64(n), "queue", k.queue, "outcome", k.outcome)
	}
	now.set("cede_waiting_workloads_not_looked_at", "Workloads that wait and were not looked at.", float64(all.More))
	return nil
}
