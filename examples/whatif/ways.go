package main

import (
	"slices"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/preemption/explain"
)

// confirm leaves out of an explanation the changes that make no yes of the answer: a decision is about one workload, and what stands
// before it in its queue, what is not known and what its nodes are too small for are said by the verdict.
func (a *answer) confirm(e *explain.Explanation) error {
	at := slices.IndexFunc(e.Steps, func(s explain.Step) bool { return s.Section == changeSection })
	if at < 0 || len(e.Ways) == 0 || a.ByFairShares() {
		return nil
	}
	line, err := a.lineOf(&a.waiting, a.options)
	if err != nil {
		return err
	}
	ways, lines := []explain.Way{}, []string{}
	for i := range e.Ways {
		is, err := a.confirmed(&e.Ways[i], line)
		if err != nil {
			return err
		}
		if is {
			ways, lines = append(ways, e.Ways[i]), append(lines, e.Steps[at].Lines[i])
		}
	}
	if len(ways) == 0 {
		lines = []string{"Nothing that was tried."}
	}
	e.Ways, e.Steps = ways, slices.Clone(e.Steps)
	e.Steps[at].Lines = lines
	return nil
}

// confirmed reports whether the verdict after a change is a yes; line is who waits in the queue.
func (a *answer) confirmed(way *explain.Way, line []answers.Waiting) (bool, error) {
	snapshot, r, err := way.Apply(a.Snapshot, a.request)
	if err != nil {
		return false, nil // it does not apply
	}
	after := *a.cluster
	after.Snapshot, after.Now = snapshot, r.Now
	w := a.waiting
	w.Request, w.Workload = r, r.Workload
	if !w.HeldUntil.IsZero() && !w.HeldUntil.After(r.Now) {
		w.Held = ""
	}
	if way.Kind == explain.WayTime { // others wait in another way then
		if line, err = after.lineOf(&w, a.options); err != nil {
			return false, err
		}
	}
	if line != nil {
		after.standBehind(&w, line)
	}
	d, err := after.Preemptor.Decide(snapshot, r)
	return err == nil && statusOf(w.Verdict(&d).Outcome) == cli.StatusYes, nil
}
