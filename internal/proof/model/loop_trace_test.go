package model

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// scheduler is the real code in the world of a [Loop].
type scheduler struct {
	model     *Loop
	cycle     *cycle.Cycle
	snapshot  *preemption.Snapshot
	pending   *queue.Pending
	submitted [MaxWorkloads]workload.Workload
	victims   map[string]preemption.Victim
	done      [MaxWorkloads]bool
	now       time.Time
}

func newScheduler(t failer, m *Loop) *scheduler {
	s := &scheduler{model: m, victims: map[string]preemption.Victim{}, now: noon}
	cohorts, queues := []queue.Cohort{{Name: "all"}}, make([]queue.Queue, len(m.Queues))
	for i, q := range m.Queues {
		queues[i] = queue.Queue{Name: fmt.Sprint("q", i), Cohort: "all", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: int64(q.Nominal)}}}
		if q.Within {
			queues[i].Preemption.WithinClusterQueue = queue.LowerPriority
		}
		if q.Reclaim {
			queues[i].Preemption.ReclaimWithinCohort = queue.Any
		}
		if q.Strict {
			queues[i].Strategy = queue.StrictFIFO
		}
	}
	var err error
	if s.cycle, err = cycle.New(cycle.Config{Preemption: preemption.Config{Compat: preemption.Compat{PreemptWithinNominal: m.WithinNominal}}}); err != nil {
		t.Fatal(err)
	}
	if s.snapshot, err = preemption.NewSnapshot(preemption.State{Cohorts: cohorts, Queues: queues}); err != nil {
		t.Fatal(err)
	}
	if s.pending, err = queue.NewPending(cohorts, queues); err != nil {
		t.Fatal(err)
	}
	for i, w := range m.Workloads {
		s.submitted[i] = workload.Workload{ID: id(i), Queue: fmt.Sprint("q", w.Queue), Priority: int64(w.Priority),
			Queued:  noon.Add(time.Duration(i-MaxWorkloads) * time.Hour),
			PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: int64(w.Size)}}}}}
	}
	return s
}

func id(i int) string { return fmt.Sprintf("w%02d", i) }

// state is the state of the model that the real one is.
func (s *scheduler) state(t failer) (state LoopState) {
	for i := range s.model.Workloads {
		w, holds := s.snapshot.Find(id(i))
		_, at, waits := s.pending.Find(id(i))
		switch {
		case holds && waits:
			t.Fatalf("workload %d is admitted and waits", i)
		case holds && w.Evicted:
			state[i] = Leaving
		case holds:
			state[i] = Running
		case waits && at.Activity == queue.Inadmissible:
			state[i] = Aside
		case waits && at.Reason == queue.PendingPreemption:
			state[i] = Promised
		case waits:
			state[i] = Waiting
		case s.done[i]:
			state[i] = Done
		}
	}
	return state
}

// run runs one cycle, and says whether another one is due.
func (s *scheduler) run(t failer) bool {
	result, err := s.cycle.Run(s.snapshot, s.pending.Heads(), s.now)
	if err == nil {
		s.snapshot, s.pending, err = result.Apply(s.snapshot, s.pending, s.now)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range result.Heads {
		if h.Outcome == cycle.Preempt {
			for _, v := range h.Decision.Victims {
				s.victims[v.Workload] = v
			}
		}
	}
	return result.Again
}

// event lets a workload enter, leave or finish.
func (s *scheduler) event(t failer, kind LoopKind, i int) {
	var err error
	if kind == Enter {
		s.pending, err = s.pending.Add(s.submitted[i])
	} else {
		s.snapshot, err = s.snapshot.With(preemption.Remove(id(i)))
		s.pending = s.pending.Release(s.submitted[i].Queue)
		s.done[i] = kind == Finish
	}
	if kind == Left && err == nil {
		var again workload.Workload
		if again, err = s.victims[id(i)].Requeued(s.submitted[i], s.now); err == nil {
			s.pending, err = s.pending.Add(again)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func drawLoop(pick func(n int) int) *Loop {
	m := &Loop{WithinNominal: pick(2) == 1}
	for range 1 + pick(MaxQueues) {
		m.Queues = append(m.Queues, LoopQueue{pick(4), pick(2) == 1, pick(2) == 1, pick(2) == 1})
	}
	for range 2 + pick(MaxWorkloads-1) {
		m.Workloads = append(m.Workloads, LoopWorkload{pick(len(m.Queues)), 1 + pick(3), pick(3)})
	}
	return m
}

// drive takes steps with the real code, as pick chooses, and says which one is none of a model; or that no other
// cycle is due, and the model does not rest.
func driveLoop(t failer, m, of *Loop, steps int, pick func(n int) int) (problem string) {
	s := newScheduler(t, m)
	for range steps {
		before := s.state(t)
		var may []LoopAction
		m.Next(before, func(a LoopAction, _ LoopState) {
			if a.Kind != Cycle {
				may = append(may, a)
			}
		})
		by, again := LoopAction{Kind: Cycle}, true
		if n := pick(1 + 2*len(may)); n < len(may) {
			by = may[n]
			s.event(t, by.Kind, by.At)
		} else {
			again = s.run(t)
		}
		s.now = s.now.Add(time.Second)
		after := s.state(t)
		if !of.Reaches(before, by.Kind, after) {
			return fmt.Sprintf("no step of %+v: from %s by %v to %s", *of, m.Show(before), by, m.Show(after))
		}
		if !again && !of.Rests(after) {
			return fmt.Sprintf("no other cycle is due, but %+v does not rest in %s", *of, m.Show(after))
		}
	}
	return ""
}

// Every step of the real loop is a step of the model, whatever enters, leaves and finishes when; and the cycle says
// that no other one is due only where no cycle of the model changes anything.
func TestLoopIsTheModels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := picks(t)
		m := drawLoop(pick)
		if problem := driveLoop(t, m, m, 1+pick(40), pick); problem != "" {
			t.Fatal(problem)
		}
	})
}

// Each mutant of the model is told from the real code, but for one that does all that the model does, and more.
func TestLoopIsNotTheMutants(t *testing.T) {
	for wrong, c := range loopMutants {
		if wrong != ReclaimsWithin && !told(func(pick func(int) int) bool {
			m := *drawLoop(pick)
			of := m
			of.Wrong = wrong
			return driveLoop(t, &m, &of, 40, pick) != ""
		}) {
			t.Errorf("%s: each step of the real code is one of the mutant", c.name)
		}
	}
}
