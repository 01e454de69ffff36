package sim

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/workload"
)

func (w *World) handle(e event) error {
	switch e.kind {
	case arrives:
		w.metrics.Arrived++
		return w.dispatch(e.job, nil, e.job.Workload)
	case finishes:
		if e.copy.state == running && e.copy.round == e.round {
			w.metrics.Completed++
			return w.remove(e.copy, done)
		}
	case leaves:
		return w.leave(e.copy)
	case shrinks:
		return w.shrink(e)
	case wakes:
		e.cluster.wakeAt = time.Time{}
		e.cluster.pending = e.cluster.pending.Advance(w.Now())
		e.cluster.changed = true
	case asks:
		if e.job.askAt.Equal(e.at) {
			e.job.askAt = time.Time{}
		}
		return w.orchestrate(e.job)
	}
	return nil
}

// dispatch lets a job wait in all its clusters with the given facts. Where it was evicted, if
// anywhere, its gates are as the eviction left them; elsewhere it begins with its gate closed.
func (w *World) dispatch(j *job, evictedIn *copyOf, facts workload.Workload) error {
	for _, c := range j.copies {
		c.facts = facts.Clone()
		if w.config.Gated && j.Cluster == "" && c != evictedIn {
			c.facts.Gates = gate.Gates{Names: []string{w.config.Gates.Gate}}
		}
		c.waited = c.facts.Clone()
		c.state, c.last, c.owed, c.offer = waiting, 0, false, gate.Offer{}
		c.cluster.live[facts.ID] = c
		c.cluster.changed = true
		var err error
		if c.cluster.pending, err = c.cluster.pending.Add(c.facts); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a copy that holds quota.
func (w *World) remove(c *copyOf, to state) (err error) {
	c.state = to
	delete(c.cluster.live, c.facts.ID)
	c.cluster.changed = true
	c.cluster.snapshot, err = c.cluster.snapshot.With(preemption.Remove(c.facts.ID))
	c.cluster.pending = c.cluster.pending.Release(c.facts.Queue)
	return err
}

// leave ends the grace of a copy that was told to stop: it waits again, and a job that
// goes to every cluster is dispatched again.
func (w *World) leave(c *copyOf) error {
	if err := w.remove(c, absent); err != nil {
		return err
	}
	w.left(c.toldFor)
	delete(c.cluster.told, c.facts.ID)
	again, err := cycle.Requeued(c.by, c.waited, c.told)
	if err != nil {
		return err
	}
	return w.dispatch(c.job, c, again)
}

// left notes that a victim of a copy has left.
func (w *World) left(by *copyOf) {
	by.leaving--
	if by.leaving == 0 && by.state == waiting {
		w.ask(by.job, w.Now())
	}
}

// shrink ends the grace of replicas that were told to stop, unless the whole copy has left.
func (w *World) shrink(e event) (err error) {
	w.left(e.by)
	c := e.copy
	if c.state != running && c.state != stopping || c.round != e.round {
		return nil
	}
	for i := range c.facts.PodSets {
		if p := &c.facts.PodSets[i]; p.Name == e.gone.PodSet {
			p.Count, p.Terminating = p.Count-e.gone.Count, p.Terminating-e.gone.Count
		}
	}
	c.cluster.changed = true
	c.cluster.pending = c.cluster.pending.Release(c.facts.Queue)
	c.cluster.snapshot, err = c.cluster.snapshot.With(preemption.Shrink(c.facts.ID, e.gone.PodSet, e.gone.Count))
	return err
}

// maxCycles is far more cycles than are needed at one instant.
const maxCycles = 100_000

// runCycles runs cycles in a cluster until another one would change nothing.
func (w *World) runCycles(c *cluster) error {
	for n := 0; ; n++ {
		if n == maxCycles {
			return fmt.Errorf("%d cycles, and still another one", n)
		}
		w.metrics.Cycles++
		result, err := w.cycle.Run(c.snapshot, c.pending.Heads(), w.Now())
		if err != nil {
			return err
		}
		if c.snapshot, err = c.snapshot.With(result.Edits()...); err != nil {
			return err
		}
		for _, v := range result.Heads {
			err := w.carryOut(c, v)
			if err == nil && w.observer != nil {
				err = w.observer.moved()
			}
			if err != nil {
				return err
			}
		}
		if !result.Again {
			return nil
		}
	}
}

// carryOut does what a cycle decided about a head. The snapshot has its edits already.
func (w *World) carryOut(c *cluster, v cycle.HeadResult) (err error) {
	me := c.live[v.Head.Workload.ID]
	if me == nil || me.state != waiting {
		return fmt.Errorf("a verdict on %q, which does not wait", v.Head.Workload.ID)
	}
	me.last, me.owed = v.Outcome, v.WithinNominal
	if c.pending, err = v.Return(c.pending, w.Now()); err != nil {
		return err
	}
	if v.Outcome == cycle.Admit {
		if w.observer != nil {
			if err := w.observer.admitting(c, &v); err != nil {
				return err
			}
		}
		return w.admit(me, *v.Decision.Admitted)
	}
	me.facts.Gates, _ = v.Gates(w.Now())
	if v.Outcome == cycle.Gated {
		me.offer = w.offer(c, v.Decision.Victims)
		w.ask(me.job, w.Now())
	}
	if v.Outcome == cycle.Preempt {
		for _, victim := range v.Decision.Victims {
			if err := w.tell(c, victim, me); err != nil {
				return err
			}
		}
	}
	return nil
}

// admit lets a copy run, as it was admitted.
func (w *World) admit(me *copyOf, as workload.Workload) (err error) {
	now, id := w.Now(), me.facts.ID
	w.metrics.Admissions++
	me.waited, me.facts = me.facts, as
	me.state, me.round = running, me.round+1
	w.plan(now.Add(me.job.Runs), event{kind: finishes, copy: me, round: me.round})
	if me.job.Cluster == "" && !me.job.delayed {
		me.job.delayed = true
		w.metrics.Delays = append(w.metrics.Delays, now.Sub(me.job.Arrives))
	}
	for _, other := range me.job.copies { // the others are withdrawn
		if other == me || other.state == absent {
			continue
		}
		if other.state != waiting {
			return fmt.Errorf("%q is admitted in %q and in %q", id, me.cluster.name, other.cluster.name)
		}
		for _, preemptor := range other.cluster.told {
			if preemptor == id {
				w.metrics.Wasted++
			}
		}
		other.state = absent
		delete(other.cluster.live, id)
		other.cluster.changed = true
		if other.cluster.pending, err = other.cluster.pending.Remove(id); err != nil {
			return err
		}
	}
	return nil
}

// tell tells a victim, or some of its replicas, to stop.
func (w *World) tell(c *cluster, victim preemption.Victim, preemptor *copyOf) error {
	v := c.live[victim.Workload]
	if v == nil || v.state != running {
		return fmt.Errorf("%q is to yield, but does not run", victim.Workload)
	}
	if preemptor.leaving == 0 {
		preemptor.since = w.Now()
	}
	for _, r := range victim.Replicas {
		for i := range v.facts.PodSets {
			if p := &v.facts.PodSets[i]; p.Name == r.PodSet {
				p.Terminating += r.Count
			}
		}
		preemptor.leaving++
		w.plan(w.Now().Add(v.job.Grace), event{kind: shrinks, copy: v, round: v.round, gone: r, by: preemptor})
	}
	if len(victim.Replicas) > 0 {
		return nil
	}
	preemptor.leaving++
	v.state, v.told, v.by, v.toldFor, v.facts.Evicted = stopping, w.Now(), victim, preemptor, true
	c.told[victim.Workload] = preemptor.facts.ID
	w.metrics.Preemptions++
	w.metrics.LostWork += w.Now().Sub(v.facts.ReservedAt)
	w.plan(w.Now().Add(v.job.Grace), event{kind: leaves, copy: v})
	return nil
}

func (w *World) offer(c *cluster, victims []preemption.Victim) gate.Offer {
	o := gate.Offer{Victims: len(victims)}
	for _, v := range victims {
		o.LostWork += w.Now().Sub(c.live[v.Workload].facts.ReservedAt)
	}
	return o
}

// orchestrate acts as the manager: it looks at the replicas of a job and opens a gate.
func (w *World) orchestrate(j *job) error {
	var replicas []gate.Replica
	for _, c := range j.copies {
		r := gate.Replica{Name: c.cluster.name, Gates: c.facts.Gates, Offer: c.offer}
		switch {
		case c.state == absent:
			continue
		case c.state == done:
			return nil
		case c.state != waiting:
			r.Progress = gate.Reserved
		case c.leaving > 0:
			r.Progress, r.Since = gate.Preempting, c.since
		case c.last != 0:
			r.Progress = gate.Pending
		}
		replicas = append(replicas, r)
	}
	act, err := gate.Orchestrate(w.config.Gates, w.Now(), replicas)
	if err != nil || act.Done {
		return err
	}
	for _, c := range j.copies {
		if c.cluster.name != act.Open {
			continue
		}
		if w.observer != nil {
			if err := w.observer.opening(j, c); err != nil {
				return err
			}
		}
		w.metrics.Openings++
		c.facts.Gates = c.facts.Gates.Opened(w.config.Gates.Gate, w.Now())
		c.cluster.changed, c.owed = true, false // it waits as if it were newly added
		if c.cluster.pending, err = c.cluster.pending.Update(c.facts); err != nil {
			return err
		}
	}
	if !act.WakeAt.IsZero() {
		w.ask(j, act.WakeAt)
	}
	return nil
}

// ask lets the manager look at a job at a time, unless it already looks at it by then.
func (w *World) ask(j *job, at time.Time) {
	if j.askAt.IsZero() || at.Before(j.askAt) {
		j.askAt = at
		w.plan(at, event{kind: asks, job: j})
	}
}
