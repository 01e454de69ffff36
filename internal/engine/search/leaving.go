package search

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
)

// AnyLeaving reports whether something in the cluster was told to leave.
func (s *Search) AnyLeaving() bool {
	for range s.Cluster.EachLeaving {
		return true
	}
	return false
}

// FindLeaving takes workloads and replicas that were told to leave before, in the order of
// candidates, until the request fits. It is asked where the search in order finds none, or others, so that
// a request that is asked again while its victims leave takes no others, whichever of them has left already.
//
// Of the rights only those count that no victim's leaving takes away: the policies of the
// preemptor's queue, by priority and age. What leaves needs no queue that still borrows, no strategy of
// fair sharing and no permission to borrow: when it is gone, the request fits as any other does.
func (s *Search) FindLeaving() bool {
	s.leaving, s.Awaits = s.leaving[:0], false
	for node, w := range s.Cluster.EachLeaving {
		if v, ok := leavingOf(s, node, w); ok {
			s.leaving = append(s.leaving, v)
		}
	}
	sortLeaving(s)
	return takeLeaving(s, false) || s.room.leaving != nil && takeLeaving(s, true)
}

// FindTerminating reports whether the request fits once what terminates in the room is gone. It takes nothing. By
// rules alone no policy permitted what leaves.
func (s *Search) FindTerminating() bool {
	s.leaving, s.Awaits = s.leaving[:0], false
	return s.room.leaving != nil && takeLeaving(s, true)
}

// takeLeaving takes what leaves until the request fits; soon: also without what terminates in the room.
// Then it may be that nothing is taken.
func takeLeaving(s *Search, soon bool) (found bool) {
	s.room.soon = soon
	defer func() { s.room.soon = false }()
	m := source.Mode{Borrowing: true}
	found = soon && s.Fits(m)
	for i := 0; !found && i < len(s.leaving); i++ {
		s.Take(s.leaving[i].Victim)
		found = s.Fits(m)
	}
	if !found {
		s.PutAllBack()
		return false
	}
	t := s.Request.Trace
	t.Silence()
	s.PutBack(true, nil)
	t.Resume()
	if t != nil {
		traceLeaving(s, t)
	}
	s.Awaits = soon
	return true
}

// leavingOf returns what leaves as a victim; ok is false if it frees nothing that needs preemption,
// or the policies never permitted it.
func leavingOf(s *Search, node int, w *cluster.Workload) (of source.Candidate, ok bool) {
	s.Steps++
	v := right.Victim{Workload: w, Set: -1, Count: 1, Cohort: -1, Queue: node}
	switch own := node == s.Request.Queue; {
	case !s.UsesNeeded(w.Loads):
		return of, false
	case own:
		v.Expired = s.Equal(w) && !s.Newer(w)
		return source.CandidateOf(&s.Case, v), s.OwnMayYield(w)
	case !s.ByPolicy(false).Permits(w):
		return of, false
	}
	if v.Cohort = s.Common(node); v.Cohort < 0 {
		return of, false
	}
	of = source.CandidateOf(&s.Case, v)
	of.WhileBorrowing = of.Class == right.Priority && s.WhileBorrowing(w)
	of.Fair = s.Request.Fair.Enabled() && !s.Entitled()
	return of, true
}

// sortLeaving sorts what leaves in the order of candidates.
func sortLeaving(s *Search) {
	tier := func(v *source.Candidate) int {
		switch w := v.Workload; {
		case v.Class != right.Own || !s.Equal(w):
			return 0
		case s.Expired(w):
			return 1
		}
		return 2
	}
	slices.SortFunc(s.leaving, func(a, b source.Candidate) int {
		x, y := source.PositionOf(&s.Case, a.Workload, false), source.PositionOf(&s.Case, b.Workload, false)
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(tier(&a), tier(&b)), x.Compare(&y, tier(&a) == 1))
	})
	if !source.ByUsage(&s.Case) {
		return
	}
	for from, i := 0, 1; i <= len(s.leaving); i++ {
		if i == len(s.leaving) || s.leaving[i].Class != s.leaving[from].Class {
			source.MergeByUsage(&s.Case, s.leaving[from:i], func(v *source.Candidate) *right.Victim { return &v.Victim })
			from = i
		}
	}
}

// traceLeaving notes the victims as those of an attempt.
func traceLeaving(s *Search, t *trace.Recorder) {
	t.Add(trace.Step{Kind: trace.AttemptBegins, Attempt: trace.Attempt{Borrowing: true}})
	for i := range s.Taken {
		step := right.StepOf(trace.Taken, &s.Taken[i])
		step.Fits = i == len(s.Taken)-1
		t.Add(step)
	}
}
