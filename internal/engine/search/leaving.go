package search

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
)

// FindLeaving takes workloads and replicas that were told to leave before, and that an attempt
// permits, in order, until the request fits. It is asked where the search in order finds none,
// or others, so that no other workload is told to leave: a request that is asked again while its
// victims leave takes no more. What leaves anyway needs no queue that still borrows, and no
// strategy of fair sharing, when its turn comes.
func (s *Search) FindLeaving() (found bool) {
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
	for n := range source.Phases {
		class := source.ClassOf(n)
		if !source.OfEvicted(n) || class == right.Priority && s.Permission(class, borrowing) == right.None {
			continue
		}
		s.Source.OpenUsual(&s.Case, n, source.Mode{Borrowing: borrowing})
		for v, ok := s.Source.NextAnyway(&s.Case); ok; v, ok = s.Source.NextAnyway(&s.Case) {
			s.leaving = append(s.leaving, source.CandidateOf(&s.Case, v).Victim)
		}
		if source.LastTier(n) {
			if source.ByUsage(&s.Case) {
				source.MergeByUsage(&s.Case, s.leaving[from:], func(v *right.Victim) *right.Victim { return v })
			}
			from = len(s.leaving)
		}
	}
	byShares := s.Request.Fair.Enabled() && !s.Entitled()
	m := source.Mode{Borrowing: borrowing}
	for _, v := range s.leaving {
		v.Fair = byShares && v.Cohort >= 0
		if s.Take(v); s.Fits(m) {
			s.PutBack(borrowing, nil)
			return true
		}
	}
	s.PutAllBack()
	return false
}

// traceLeaving notes the victims as those of an attempt.
func (s *Search) traceLeaving(t *trace.Recorder, borrowing bool) {
	t.Add(trace.Step{Kind: trace.AttemptBegins, Attempt: trace.Attempt{Borrowing: borrowing}})
	for i := range s.Taken {
		step := right.StepOf(trace.Taken, &s.Taken[i])
		step.Fits = i == len(s.Taken)-1
		t.Add(step)
	}
}
