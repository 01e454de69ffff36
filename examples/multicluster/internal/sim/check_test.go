package sim

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// invariants checks what must hold in a world at every step.
type invariants struct {
	*World
	alone *preemption.Preemptor // decides about inadmissible workloads
	model *replicas             // nil: the model does not have the order of openings
}

// newChecked returns a world whose steps fail when an invariant does not hold.
func newChecked(c Config) (*World, error) {
	w, err := New(c)
	if err != nil {
		return nil, err
	}
	alone, err := preemption.New(c.Cycle.Preemption)
	w.observer = invariants{w, alone, newReplicas(w.config)}
	return w, err
}

// settled returns the first invariant that does not hold in a cluster: usage is the sum of the
// admitted workloads; no workload is lost or duplicate; a decision named each workload that
// was told to stop; a waiting workload is as it was submitted; no workload that fits or may
// preempt is out of the order.
func (w invariants) settled(c *cluster) error {
	usage := map[string]map[quota.FlavorResource]int64{}
	holding := slices.Collect(c.snapshot.Workloads())
	admitted, waits := 0, 0
	for id, me := range c.live {
		_, _, pending := c.pending.Find(id)
		_, holds := c.snapshot.Find(id)
		if pending != (me.state == waiting) || holds != (me.state == running || me.state == stopping) {
			return fmt.Errorf("%q is in state %d, waits: %t, admitted: %t", id, me.state, pending, holds)
		}
		if me.state == waiting {
			waits++
			if err := asSubmitted(me); err != nil {
				return err
			}
			continue
		}
		admitted++
	}
	if err := w.lasting(c); err != nil {
		return err
	}
	if waits != c.pending.Len() || admitted != len(holding) {
		return fmt.Errorf("%d wait and %d run, but %d are pending and %d admitted", waits, admitted, c.pending.Len(), len(holding))
	}
	for _, facts := range holding {
		me := c.live[facts.ID]
		if facts.Evicted != (c.told[facts.ID] != "") {
			return fmt.Errorf("%q: evicted %t, but it was told to stop for %q", facts.ID, facts.Evicted, c.told[facts.ID])
		}
		if usage[facts.Queue] == nil {
			usage[facts.Queue] = map[quota.FlavorResource]int64{}
		}
		for _, u := range me.facts.Usage() {
			usage[facts.Queue][u.FlavorResource()] += u.Amount
		}
	}
	for q := range c.snapshot.Queues() {
		rows, _ := c.snapshot.QueueStatus(q.Name)
		for _, row := range rows {
			if sum := usage[q.Name][row.FlavorResource]; sum != row.Usage {
				return fmt.Errorf("queue %q uses %d of %v, the sum of its workloads is %d", q.Name, row.Usage, row.FlavorResource, sum)
			}
		}
	}
	return nil
}

// asSubmitted: a waiting workload is as it was submitted, except for its timestamp and gates.
func asSubmitted(c *copyOf) error {
	want, got := c.job.Workload, c.facts
	want.Queued, want.Gates, got.Gates = got.Queued, gate.Gates{}, gate.Gates{}
	if got.Queued.Before(c.job.Arrives) || !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%q waits as %+v, it was submitted as %+v", got.ID, got, want)
	}
	return nil
}

// lasting: while no victims are terminating, no inadmissible workload would fit or preempt.
// (When a terminating victim leaves, the workload becomes active again. One that stepped aside because it would borrow is
// refused for those that wait within nominal quota.)
func (w invariants) lasting(c *cluster) error {
	if len(c.snapshot.Removals()) > 0 {
		return nil
	}
	for _, facts := range c.pending.Workloads() {
		_, at, _ := c.pending.Find(facts.ID)
		if at.Activity != queue.Inadmissible || at.Reason == queue.Borrows {
			continue
		}
		d, err := w.alone.Decide(c.snapshot, preemption.Request{Workload: facts, Now: w.Now()})
		if err != nil || d.Outcome.Succeeds() {
			return fmt.Errorf("%q is kept out of the order (%v), and would %v %v", facts.ID, at.Reason, d.Outcome, err)
		}
	}
	return nil
}

// admitting: under KEP83Lasting no workload borrows, except after its own victims left, while
// another workload of the same (only) cohort waits and in its last cycle waited within its
// nominal quota.
func (w invariants) admitting(c *cluster, v *cycle.HeadResult) error {
	if v.Decision.BorrowHeight == 0 || v.Head.Preempting {
		return nil
	}
	for id, me := range c.live {
		if me.state == waiting && me.owed {
			return fmt.Errorf("%q is admitted by borrowing while %q waits within its nominal quota", v.Head.Workload.ID, id)
		}
	}
	return nil
}

// opening: a gate is opened only for a replica that last signalled that only the gate
// keeps it from preempting, and while no other replica preempts, unless the time for that,
// which counts from the latest opening, is over.
func (w invariants) opening(j *job, opened *copyOf) error {
	if opened.last != cycle.Gated {
		return fmt.Errorf("%q is opened in %q, where its last verdict was %v", j.Workload.ID, opened.cluster.name, opened.last)
	}
	timeout := cmp.Or(w.config.Gates.Timeout, gate.DefaultTimeout)
	patience := cmp.Or(w.config.Gates.PreemptingTimeout, timeout)
	var turn time.Time
	for _, c := range j.copies {
		if at, open := c.facts.Gates.OpenSince(w.config.Gates.Gate); open && c.state != absent && at.Add(timeout).After(turn) {
			turn = at.Add(timeout)
		}
	}
	if turn.IsZero() {
		turn = opened.facts.Gates.Blocked.Since
	}
	if !w.Now().Before(turn.Add(patience)) {
		return nil
	}
	for _, c := range j.copies {
		if c != opened && c.state == waiting && c.leaving > 0 && w.Now().Sub(c.since) < patience {
			return fmt.Errorf("%q is opened in %q while its victims leave in %q", j.Workload.ID, opened.cluster.name, c.cluster.name)
		}
	}
	return nil
}
