package decide

// findByRules searches for victims after a search by policies that found none. Everybody that
// the policies permit is taken; the rules then take others, until the request fits. In the end
// those that are not needed are put back, latest first, those of the policies too.
func (s *Searcher) findByRules() (found bool) {
	core := &s.search
	if core.Request.Rules == nil {
		return false
	}
	alone := core.Request.RulesAlone
	if core.OverPotential() {
		if alone {
			core.FailRules()
		}
		return false
	}
	core.CollectLevels()
	switch {
	case alone:
		core.BeginRules()
	case core.Request.Fair.Enabled():
		core.Exhaust = true
		s.fair.Find(core, false)
		core.Exhaust = false
	default:
		core.TakeAll()
	}
	switch {
	case core.Request.Rules.Take(core):
		core.PutBack(true, nil)
		return true
	case alone:
		core.FailRules()
	default:
		core.PutAllBack()
	}
	return false
}
