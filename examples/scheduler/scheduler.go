package main

import (
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Event is what happened in the cluster. One of the fields besides At is set.
type Event struct {
	At        time.Time                        `json:"at"`
	Configure *preemption.State                `json:"configure,omitempty"` // its cohorts and queues
	Submit    *workload.Workload               `json:"submit,omitempty"`
	Gone      string                           `json:"gone,omitempty"` // it is done, or has stopped
	Open      *struct{ Workload, Gate string } `json:"open,omitempty"`
}

// Action is what to do.
type Action struct {
	Admit  string             `json:"admit,omitempty"`
	Stop   *preemption.Victim `json:"stop,omitempty"`   // all of it, or some replicas
	For    string             `json:"for,omitempty"`    // for whom
	Signal string             `json:"signal,omitempty"` // raise BlockedOnPreemptionGates
}

// Scheduler is all the state there is.
type Scheduler struct {
	cycle    *cycle.Cycle
	snapshot *preemption.Snapshot // what runs
	pending  *queue.Pending       // what waits
	stopping map[string]stop      // who was told to stop, by which right, when
}

type stop struct {
	victim preemption.Victim
	at     time.Time
}

// Handle takes an event in and returns what to do. After an error nothing has changed. An
// event of nothing but a time is a tick: send one at the time of s.pending.NextAt.
func (s *Scheduler) Handle(e Event) ([]Action, error) {
	next := *s
	next.pending = s.pending.Advance(e.At) // those whose time has come
	var err error
	switch {
	case e.Configure != nil:
		var edits []preemption.Edit
		for _, c := range e.Configure.Cohorts {
			edits = append(edits, preemption.SetCohort(c))
		}
		for _, q := range e.Configure.Queues {
			edits = append(edits, preemption.SetQueue(q))
		}
		if next.snapshot, err = s.snapshot.With(edits...); err == nil {
			st := next.snapshot.State()
			next.pending, err = next.pending.Configure(st.Cohorts, st.Queues)
		}
	case e.Submit != nil:
		next.pending, err = next.pending.Add(*e.Submit)
	case e.Gone != "":
		err = next.gone(e.Gone)
	case e.Open != nil:
		w, _, _ := next.pending.Find(e.Open.Workload)
		w.Gates = w.Gates.Opened(e.Open.Gate, e.At)
		next.pending, err = next.pending.Update(w)
	}
	var actions []Action
	for again := true; again && err == nil; { // cycles, until one finds nothing to do
		var more []Action
		more, err = next.schedule(e.At)
		actions, again = append(actions, more...), len(more) > 0
	}
	if err != nil {
		return nil, err
	}
	for _, a := range actions {
		if a.Stop != nil && len(a.Stop.Replicas) == 0 {
			s.stopping[a.Stop.Workload] = stop{*a.Stop, e.At}
		}
	}
	delete(s.stopping, e.Gone)
	*s = next
	return actions, nil
}

// gone frees what a workload held. One that was told to stop waits again: where, is up to
// the right by which it was taken.
func (s *Scheduler) gone(id string) (err error) {
	w, runs := s.snapshot.Find(id)
	if !runs {
		s.pending, err = s.pending.Remove(id) // withdrawn while it waited
		return err
	}
	if s.snapshot, err = s.snapshot.With(preemption.Remove(id)); err != nil {
		return err
	}
	s.pending = s.pending.Release(w.Queue) // there is room: look at those again that stepped aside
	if told, ok := s.stopping[id]; ok {
		s.pending, err = s.pending.Add(cycle.Requeued(told.victim, w, told.at))
	}
	return err
}

// schedule runs one cycle and takes its result in. A real scheduler carries the actions out
// before it does; what fails then goes back with queue.FailedAfterNomination.
func (s *Scheduler) schedule(now time.Time) (actions []Action, err error) {
	result, err := s.cycle.Run(s.snapshot, s.pending.Heads(), now)
	if err != nil {
		return nil, err
	}
	if s.snapshot, err = s.snapshot.With(result.Edits()...); err != nil {
		return nil, err
	}
	for _, v := range result.Verdicts {
		w := v.Head.Workload
		back, waits := v.Requeue()
		switch {
		case !waits:
			actions = append(actions, Action{Admit: w.ID})
			s.pending, err = s.pending.Remove(w.ID)
		case v.Outcome == cycle.Preempt:
			for _, victim := range v.Decision.Victims {
				actions = append(actions, Action{Stop: &victim, For: w.ID})
			}
		case v.Outcome == cycle.Gated && !w.Gates.Blocked.Signals():
			actions = append(actions, Action{Signal: w.ID})
			w.Gates = w.Gates.Signalled(now)
			s.pending, err = s.pending.Update(w)
		}
		if waits && err == nil {
			s.pending, err = s.pending.Requeue(v.Head, back)
		}
		if err != nil {
			return nil, err
		}
	}
	return actions, nil
}
