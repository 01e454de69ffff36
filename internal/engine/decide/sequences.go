package decide

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
)

// Sequence is whom one attempt takes, in order, if the request never fits.
type Sequence struct {
	Borrowing bool
	Taken     []search.Victim
}

// Sequences lists the attempts by the policies. In fair sharing there is one, with both
// strategies, and none without candidates.
func (s *Searcher) Sequences(c *cluster.Cluster, r *search.Request) (list []Sequence) {
	core := &s.search
	core.Begin(c, r)
	core.FitsAtFirst() // finds what needs preemption
	core.CollectLevels()
	if !r.Fair.Enabled() {
		core.Sequences(func(borrowing bool, taken []search.Victim) {
			list = append(list, Sequence{borrowing, slices.Clone(taken)})
		})
	} else if len(core.AppendCandidates(nil, 1)) > 0 {
		core.Exhaust = true
		s.fair.Find(core, false)
		core.Exhaust = false
		list = append(list, Sequence{true, slices.Clone(core.Taken)})
		core.PutAllBack()
	}
	core.End()
	return list
}
