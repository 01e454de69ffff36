package main

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

// prepare returns a pending workload as it is asked about at a time, and what its answer must
// tell.
func (in *input) prepare(p *bridge.Pending, local []bridge.Note, namespace string, now time.Time) (workload.Workload, []bridge.Note) {
	w, object := p.Workload, "Workload "+p.Workload.ID
	notes := slices.Clone(p.Notes)
	if now.Before(p.PreemptsFrom) {
		w.NeverPreempts = true
		notes = append(notes, bridge.Note{Object: object, Path: "spec.preemptionDelay",
			Text: fmt.Sprintf("the workload may preempt from %s on, not yet (preemptionDelay)", p.PreemptsFrom.UTC().Format(time.RFC3339))})
	}
	if p.BackoffUntil.After(now) {
		notes = append(notes, bridge.Note{Object: object, Path: "status.requeueState", Stops: true,
			Text: fmt.Sprintf("the workload backs off until %s (status.requeueState)", p.BackoffUntil.UTC().Format(time.RFC3339))})
	}
	notes = slices.Concat(notes, local, in.found.NotesOn(w.Queue, namespace))
	if p.Workload.NeverPreempts {
		notes = append(notes, bridge.Note{Object: object, Text: "the workload never preempts"})
	}
	return w, notes
}

// waiting is a workload that waits, in the order in which its queue tries it.
type waiting struct {
	workload workload.Workload
	request  preemption.Request
	position int    // in its queue, from 1; zero if it has none
	held     string // why it is not considered at all; empty: it is
	unasked  string // why nothing can be said about it; empty: it is asked about
	notes    []string
	pending  *bridge.Pending // nil for the request of a Record
}

// waiting returns all workloads that wait: by queue, then in the order of the queue: higher
// effective priority, earlier queue-order timestamp, ID.
func (c *cluster) waiting(o *options) []waiting {
	queues := map[string]bool{}
	for i := range c.state.Queues {
		queues[c.state.Queues[i].Name] = true
	}
	var list []waiting
	if c.recorded != nil {
		r := c.recordedRequest(o)
		list = append(list, waiting{workload: r.Workload, request: r})
	}
	for i := range c.found.Pending {
		p := &c.found.Pending[i]
		namespace, _, inNamespace := strings.Cut(p.Workload.ID, "/")
		if !inNamespace {
			namespace = ""
		}
		w, notes := c.prepare(p, p.LocalNotes, namespace, c.now)
		one := waiting{workload: w, request: preemption.Request{Workload: w, MinCounts: p.MinCounts, Now: c.now}, notes: bridge.Texts(notes), pending: p}
		if n := slices.IndexFunc(notes, func(n bridge.Note) bool { return n.Stops }); n >= 0 {
			one.held = notes[n].Text
		}
		if w.Queue == "" {
			one.unasked = p.Unresolved
		}
		list = append(list, one)
	}
	for i := range list {
		if q := list[i].workload.Queue; q != "" && !queues[q] {
			list[i].unasked = fmt.Sprintf("queue %s is not in the input", q)
		}
	}
	slices.SortFunc(list, func(a, b waiting) int { return compareWaiting(&a.workload, &b.workload) })
	for i := range list {
		switch one := &list[i]; {
		case one.unasked != "" || one.held != "":
		default:
			one.position = 1
			for j := i - 1; j >= 0 && list[j].workload.Queue == one.workload.Queue; j-- {
				if list[j].position > 0 {
					one.position = list[j].position + 1
					break
				}
			}
		}
	}
	return list
}

// compareWaiting orders by queue and then as a queue does.
func compareWaiting(a, b *workload.Workload) int {
	return cmp.Or(
		cmp.Compare(a.Queue, b.Queue),
		cmp.Compare(b.EffectivePriority(), a.EffectivePriority()),
		a.Queued.Compare(b.Queued),
		cmp.Compare(a.ID, b.ID))
}
