package search

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/trace"
)

// FindLeaving takes workloads and replicas that were told to stop before, and that an attempt
// permits, in order, until the request fits. It is asked where the search in order finds none,
// or others, so that nothing else is told to stop: a request that is asked again while its
// victims leave takes no more. What leaves anyway needs no queue that still borrows, and no
// strategy of fair sharing, when its turn comes.
func (s *Search) FindLeaving() (found bool) {
	if s.Exhaust {
		return false
	}
	t := s.Request.Trace
	t.Silence()
	borrowing := false
	for _, borrowing = range s.Attempts() {
		if found = s.takeLeaving(borrowing); found {
			break
		}
	}
	t.Resume()
	if t != nil && found {
		s.traceLeaving(t, borrowing)
	}
	return found
}

func (s *Search) takeLeaving(borrowing bool) bool {
	s.leaving = s.leaving[:0]
	from := 0 // where those of a class begin
	for n := range phases {
		if ph := &phases[n]; ph.lanes[0] != cluster.Evicted || ph.class == Priority && s.Permission(Priority, borrowing) == Nobody {
			continue
		}
		s.openPhase(n, Mode{Borrowing: borrowing})
		for s.settleHeap() {
			s.leaving = append(s.leaving, s.candidate(s.pop(), phases[n].class).Victim)
		}
		if lastTier(n) {
			if s.byUsage() {
				mergeByUsage(s, s.leaving[from:], func(v *Victim) *Victim { return v })
			}
			from = len(s.leaving)
		}
	}
	byShares := s.Request.Fair.Enabled() && !s.entitledNow()
	for _, v := range s.leaving {
		v.Fair = byShares && v.Cohort >= 0
		if s.Take(v); s.Fits(borrowing) {
			s.PutBack(borrowing, nil)
			return true
		}
	}
	s.PutAllBack()
	return false
}

// AnyLeaving reports whether a queue that may be asked has anything that was told to stop.
func (s *Search) AnyLeaving() bool { return s.anyIn(evictedLanes) }

// AllLeave reports whether all victims were told to stop before.
func (s *Search) AllLeave() bool {
	for i := range s.Taken {
		if !s.Taken[i].Workload.Facts.Evicted {
			return false
		}
	}
	return len(s.Taken) > 0
}

// traceLeaving notes the victims as those of an attempt.
func (s *Search) traceLeaving(t *trace.Recorder, borrowing bool) {
	t.Add(trace.Step{Kind: trace.AttemptBegins, Borrowing: borrowing})
	for i := range s.Taken {
		step := StepOf(trace.Taken, &s.Taken[i])
		step.Fits = i == len(s.Taken)-1
		t.Add(step)
	}
}
