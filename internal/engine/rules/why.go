package rules

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/selectors"
)

// What package why asks after a search that found no victims, in the tiers of which the triggers hold, whatever
// constraints on quota say.

func (t *Taker) judges(i int) bool { return t.holding[i] && t.tiers[i].rules != nil }

// Verdict returns the verdict on a workload of a queue that some tier accepts; ok is false if none does.
func (t *Taker) Verdict(s *search.Search, queue int, w *cluster.Workload) (v right.Verdict, ok bool) {
	if s.Cluster.Queue(queue).Inactive {
		return v, false
	}
	t.fill(w)
	for i := range t.tiers {
		if !t.judges(i) {
			continue
		}
		moment := t.moment(s, i)
		moment.Quota = selectors.AllQuota()
		if t.tiers[i].rules.Accepts(&t.one, moment) {
			of := s.DonorOfRules(queue, donorAt(s, queue).common)
			return s.VerdictByRules(&of, w), true
		}
	}
	return v, false
}
