package decide

import (
	"github.com/cedesched/cede/internal/engine/source"
)

// findByPolicies searches for victims; if configured, a second time with the largest first.
func (s *Searcher) findByPolicies() bool {
	r := s.search.Request
	return !r.Rules.Alone && (s.findInOrder(false) || r.LargestFirst && s.findInOrder(true))
}

func (s *Searcher) findInOrder(largestFirst bool) bool {
	core := &s.search
	core.CollectLevels()
	t := core.Request.Trace
	switch {
	case core.OverPotential():
		if t != nil {
			core.TraceOverPotential(t)
		}
		core.NoteHopeless()
		return false
	case !largestFirst && !core.Request.Forecast && s.findLeaving():
		return true
	}
	return s.find(largestFirst)
}

func (s *Searcher) find(largestFirst bool) bool {
	if s.search.Request.Fair.Enabled() {
		return s.fair.Find(&s.search, source.Mode{Borrowing: true, LargestFirst: largestFirst})
	}
	return s.search.Find(largestFirst)
}

// findLeaving looks for victims that all were told to leave before, unless the search in order finds such.
func (s *Searcher) findLeaving() bool {
	return (!s.search.AnyLeaving() || !s.findsLeaving()) && s.search.FindLeaving()
}

// findsLeaving reports whether the search in order finds victims that all were told to leave before.
func (s *Searcher) findsLeaving() bool {
	core := &s.search
	core.Request.Trace.Silence()
	defer core.Request.Trace.Resume()
	leave := s.find(false) && core.AllLeave()
	core.PutAllBack()
	return leave
}
