package main

import (
	"errors"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Event is one event in the cluster. At most one field besides At is set.
type Event struct {
	At        time.Time          `json:"at"`
	Configure *preemption.State  `json:"configure,omitempty"` // all but what is admitted
	Submit    *workload.Workload `json:"submit,omitempty"`
	Gone      string             `json:"gone,omitempty"`   // it is finished, or has stopped
	Shrunk    *preemption.Victim `json:"shrunk,omitempty"` // replicas that were told to stop have stopped
	Open      *Open              `json:"open,omitempty"`
}

// Open opens a gate of a workload that waits.
type Open struct {
	Workload string `json:"workload"`
	Gate     string `json:"gate"`
}

// Action is one action to carry out.
type Action struct {
	Admit  string             `json:"admit,omitempty"`
	Stop   *preemption.Victim `json:"stop,omitempty"`   // the whole workload, or some replicas
	For    string             `json:"for,omitempty"`    // the preemptor
	Signal string             `json:"signal,omitempty"` // raise BlockedOnPreemptionGates
	Clear  string             `json:"clear,omitempty"`  // clear that condition
}

// Scheduler holds all state. Make it with New.
type Scheduler struct {
	cycle     *cycle.Cycle
	snapshot  *preemption.Snapshot         // what runs
	pending   *queue.Pending               // what waits
	submitted map[string]workload.Workload // each as it was when it last waited
	stopping  map[string]stop              // who was told to stop, by which right, and when
}

type stop struct {
	victim preemption.Victim
	at     time.Time
}

// New returns a scheduler for an empty cluster.
func New(c cycle.Config) (*Scheduler, error) {
	made, err := cycle.New(c)
	if err != nil {
		return nil, err
	}
	return &Scheduler{cycle: made, snapshot: new(preemption.Snapshot), pending: new(queue.Pending).AlikeBy(made.Alike),
		submitted: map[string]workload.Workload{}, stopping: map[string]stop{}}, nil
}

// Handle takes an event and returns the actions. After an error nothing has changed. An event
// with only a time is a tick: send one at the time of s.pending.NextAt.
func (s *Scheduler) Handle(e Event) ([]Action, error) {
	next := *s
	next.pending = s.pending.Advance(e.At) // workloads whose time has come
	var waits *workload.Workload           // the workload that waits from now on
	var err error
	switch {
	case e.Configure != nil:
		if len(e.Configure.Admitted) > 0 {
			return nil, errors.New("configure.admitted: want none: submit each workload")
		}
		var edits []preemption.Edit
		for _, f := range e.Configure.Flavors {
			edits = append(edits, preemption.SetFlavor(f))
		}
		for _, r := range e.Configure.Rules {
			edits = append(edits, preemption.SetRules(r))
		}
		for _, c := range e.Configure.Cohorts {
			edits = append(edits, preemption.SetCohort(c))
		}
		for _, q := range e.Configure.Queues {
			edits = append(edits, preemption.SetQueue(q))
		}
		if next.snapshot, err = s.snapshot.With(edits...); err == nil {
			next.pending, err = next.pending.Configure(slices.Collect(next.snapshot.Cohorts()), slices.Collect(next.snapshot.Queues()))
		}
	case e.Submit != nil:
		waits = e.Submit
	case e.Gone != "":
		waits, err = next.gone(e.Gone)
	case e.Shrunk != nil:
		err = next.shrunk(*e.Shrunk)
	case e.Open != nil:
		w, _, _ := next.pending.Find(e.Open.Workload)
		w.ID = e.Open.Workload // also where it does not wait: the error names it
		w.Gates = w.Gates.Opened(e.Open.Gate, e.At)
		next.pending, err = next.pending.Update(w)
	}
	if waits != nil && err == nil {
		next.pending, err = next.pending.Add(*waits)
	}
	var actions []Action
	for again := true; again && err == nil; { // cycles, until another one would change nothing
		var more []Action
		more, again, err = next.schedule(e.At)
		actions = append(actions, more...)
	}
	if err != nil {
		return nil, err
	}
	delete(s.stopping, e.Gone)
	delete(s.submitted, e.Gone)
	if waits != nil {
		s.submitted[waits.ID] = *waits
	}
	for _, a := range actions {
		if a.Stop != nil && len(a.Stop.Replicas) == 0 {
			s.stopping[a.Stop.Workload] = stop{*a.Stop, e.At}
		}
	}
	*s = next
	return actions, nil
}

// gone frees what a workload held. A workload that was told to stop waits again, as it was
// submitted; the right by which it was preempted decides its place.
func (s *Scheduler) gone(id string) (again *workload.Workload, err error) {
	w, runs := s.snapshot.Find(id)
	if !runs {
		s.pending, err = s.pending.Remove(id) // withdrawn while it waited
		return nil, err
	}
	if s.snapshot, err = s.snapshot.With(preemption.Remove(id)); err != nil {
		return nil, err
	}
	s.pending = s.pending.Release(w.Queue) // there is room: try inadmissible workloads again
	told, ok := s.stopping[id]
	if !ok {
		return nil, nil
	}
	back, err := told.victim.Requeued(s.submitted[id], told.at)
	return &back, err
}

// shrunk frees what the replicas that were told to stop held.
func (s *Scheduler) shrunk(v preemption.Victim) (err error) {
	s.snapshot, err = s.snapshot.With(preemption.Remove(v.Workload, v.Replicas...))
	w, _ := s.snapshot.Find(v.Workload)
	s.pending = s.pending.Release(w.Queue)
	return err
}

// schedule runs one cycle and applies its result; again says that another cycle may change
// something. A real scheduler carries out the actions first. If one fails, it edits the snapshot and returns
// the heads one by one (HeadResult.Return): a head of a failed action with Outcome Wait and Reason FailedAfterNomination.
func (s *Scheduler) schedule(now time.Time) (actions []Action, again bool, err error) {
	result, err := s.cycle.Run(s.snapshot, s.pending.Heads(), now)
	if err != nil {
		return nil, false, err
	}
	for _, v := range result.Heads {
		id := v.Head.Workload.ID
		switch v.Outcome {
		case cycle.Admit:
			actions = append(actions, Action{Admit: id})
			continue
		case cycle.Preempt:
			for _, victim := range v.Decision.Victims {
				actions = append(actions, Action{Stop: &victim, For: id})
			}
		}
		switch gates, changed := v.Gates(now); {
		case changed && gates.Blocked.Signals():
			actions = append(actions, Action{Signal: id})
		case changed:
			actions = append(actions, Action{Clear: id})
		}
	}
	s.snapshot, s.pending, err = result.Apply(s.snapshot, s.pending, now)
	return actions, result.Again, err
}
