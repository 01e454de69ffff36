package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Prepare returns a pending workload as it is asked about at a time, and what its answer must
// tell.
func (in *Input) Prepare(p *bridge.Pending, local []bridge.Note, namespace string, now time.Time) (workload.Workload, []bridge.Note) {
	w, object := p.Workload, "Workload "+p.Workload.ID
	notes := slices.Clone(p.Notes)
	if text := Delayed(p.PreemptsFrom, now); text != "" {
		w.NeverPreempts = true
		notes = append(notes, bridge.Note{Object: object, Path: "spec.preemptionDelay", Text: text})
	}
	if text := BacksOff(p.BackoffUntil, now); text != "" {
		notes = append(notes, bridge.Note{Object: object, Path: "status.requeueState", Stops: true, Text: text})
	}
	notes = slices.Concat(notes, local, in.Found.NotesOn(w.Queue, namespace))
	if p.Workload.NeverPreempts {
		notes = append(notes, bridge.Note{Object: object, Text: "the workload never preempts"})
	}
	return w, notes
}

// Delayed says that a workload may not preempt yet. Empty: it may.
func Delayed(from, now time.Time) string {
	if !now.Before(from) {
		return ""
	}
	return fmt.Sprintf("the workload may preempt from %s on, not yet (preemptionDelay)", from.UTC().Format(time.RFC3339))
}

// BacksOff says that a workload is not considered yet. Empty: it is.
func BacksOff(until, now time.Time) string {
	if !until.After(now) {
		return ""
	}
	return fmt.Sprintf("the workload backs off until %s (status.requeueState)", until.UTC().Format(time.RFC3339))
}

// Waiting is a workload that waits.
type Waiting struct {
	Workload workload.Workload
	Request  preemption.Request
	Position int    // in its queue, from 1; zero if it has none
	Held     string // why it is not considered at all; empty: it is
	Unasked  string // why nothing can be said about it; empty: it is asked about
	Notes    []string
	Pending  *bridge.Pending // nil for the request of a Record
}

// Waiting returns all workloads that wait: by queue, then in the order of the queue: higher
// effective priority, earlier queue-order timestamp, ID. The request is that of a Record, or
// nil.
func (c *Cluster) Waiting(recorded *preemption.Request) []Waiting {
	queues := map[string]bool{}
	for i := range c.State.Queues {
		queues[c.State.Queues[i].Name] = true
	}
	var list []Waiting
	if recorded != nil {
		list = append(list, Waiting{Workload: recorded.Workload, Request: *recorded})
	}
	for i := range c.Found.Pending {
		p := &c.Found.Pending[i]
		w, notes := c.Prepare(p, p.LocalNotes, Namespace(p.Workload.ID), c.Now)
		one := Waiting{Workload: w, Request: preemption.Request{Workload: w, MinCounts: p.MinCounts, Now: c.Now}, Notes: bridge.Texts(notes), Pending: p}
		if n := slices.IndexFunc(notes, func(n bridge.Note) bool { return n.Stops }); n >= 0 {
			one.Held = notes[n].Text
		}
		if w.Queue == "" {
			one.Unasked = p.Unresolved
		}
		list = append(list, one)
	}
	for i := range list {
		if q := list[i].Workload.Queue; q != "" && !queues[q] {
			list[i].Unasked = fmt.Sprintf("queue %s is not in the input", q)
		}
	}
	Line(list)
	return list
}

// Line sorts workloads that wait and numbers them in their queues.
func Line(list []Waiting) {
	slices.SortFunc(list, func(a, b Waiting) int { return compareWaiting(&a.Workload, &b.Workload) })
	last := map[string]int{}
	for i := range list {
		if one := &list[i]; one.Unasked == "" && one.Held == "" {
			last[one.Workload.Queue]++
			one.Position = last[one.Workload.Queue]
		}
	}
}

// Namespace returns the namespace of an ID; empty if it has none.
func Namespace(id string) string {
	namespace, _, inNamespace := strings.Cut(id, "/")
	if !inNamespace {
		return ""
	}
	return namespace
}

// compareWaiting orders by queue and then as a queue does.
func compareWaiting(a, b *workload.Workload) int {
	return cmp.Or(
		cmp.Compare(a.Queue, b.Queue),
		cmp.Compare(b.EffectivePriority(), a.EffectivePriority()),
		workload.CompareQueued(a.Queued, b.Queued),
		cmp.Compare(a.ID, b.ID))
}
