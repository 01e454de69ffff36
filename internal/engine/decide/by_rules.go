package decide

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
)

// ByRules searches for victims after a search that found none. Everybody that the policies
// permit is taken; take then takes others, until the request fits. In the end those that are
// not needed are put back, latest first, those of the policies too. The result has victims, or
// it is empty.
func (s *Searcher) ByRules(c *cluster.Cluster, r *search.Request, take func(*search.Search) (fits bool)) (result Result) {
	core := &s.search
	core.Begin(c, r)
	core.FitsAtFirst() // finds what needs preemption
	core.CollectLevels()
	if !core.OverPotential() {
		if r.Fair.Enabled() {
			core.Exhaust = true
			s.fair.Find(core, false)
			core.Exhaust = false
		} else {
			core.TakeAll()
		}
		if take(core) {
			core.PutBack(true, nil)
			result.Victims = core.Taken
			result.BorrowHeight = core.BorrowHeight()
			core.PutRoomBack()
		} else {
			core.PutAllBack()
		}
	}
	core.End()
	return result
}
