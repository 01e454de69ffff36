package decide

import (
	"github.com/cedesched/cede/internal/engine/usage"
)

// findByRules searches for victims after a search by policies that found none. All that
// the policies permit are taken; the rules then take others, until the request fits. In the end
// those that are not needed are put back, latest first, those of the policies too. If sums prove
// that the request is hopeless, no victims are sought.
func (s *Searcher) findByRules() (found bool) {
	core := &s.search
	if s.rules == nil {
		return false
	}
	alone := core.Request.Rules.Alone
	if core.OverPotential() {
		if alone { // what is short without all whom some selector may accept
			core.CollectLevels()
			s.rules.Hopeless(core)
		}
		return false
	}
	core.CollectLevels()
	refused := !alone && s.rules.Hopeless(core) != usage.Victims // alone the bounds are asked later
	if alone || refused {
		core.BeginRules()
	} else {
		s.takeAll()
	}
	switch {
	case s.rules.Take(core):
		core.PutBack(true, s.rules.Justified(core))
		return true
	case alone || refused:
		core.FailRules(s.rules.Hopeless(core))
	default:
		core.PutAllBack()
	}
	return false
}
