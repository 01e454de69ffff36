package decide

import (
	"github.com/cedesched/cede/internal/engine/source"
)

// findByPolicies searches for victims.
func (s *Searcher) findByPolicies() bool {
	core := &s.search
	if core.Request.Rules.Alone {
		return !core.OverPotential() && !core.Request.Forecast && core.FindTerminating()
	}
	core.CollectLevels()
	t := core.Request.Trace
	switch {
	case core.OverPotential():
		if t != nil {
			core.TraceOverPotential(t)
		}
		core.NoteHopeless()
		return false
	case !core.Request.Forecast && s.findLeaving():
		return true
	}
	return s.findInOrder()
}

func (s *Searcher) findInOrder() bool {
	if s.search.Request.Entitled != nil {
		return s.byShares.Find(&s.search, source.Mode{Borrowing: true})
	}
	if s.search.Request.Fair.Enabled() {
		return s.fair.Find(&s.search, source.Mode{Borrowing: true})
	}
	return s.search.Find()
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
	leave := s.findInOrder() && core.AllLeave()
	core.PutAllBack()
	return leave
}
