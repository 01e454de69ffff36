package rules

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/selectors"
)

// What package why asks after a search that found no victims, in the tiers of which the triggers hold, whatever
// constraints on quota say.

// Reach returns the highest priority of which some tier may accept a workload of a queue; ok is false if none does.
func (t *Taker) Reach(s *search.Search, queue int) (most int64, ok bool) {
	if s.Cluster.Queue(queue).Inactive {
		return 0, false
	}
	name := s.Cluster.Queue(queue).Name
	add := func(r selectors.Reach) {
		if r.Any && (!ok || r.Most > most) {
			most, ok = r.Most, true
		}
	}
	for i := range t.tiers {
		if !t.judges(i) {
			continue
		}
		reach := t.tiers[i].reach()
		add(reach.Of(name))
		for trait, more := reach.NextTrait(0); more; trait, more = reach.NextTrait(trait + 1) {
			add(reach.OfTrait(trait, name))
		}
	}
	return most, ok
}

func (t *Taker) judges(i int) bool { return t.holding[i] && t.tiers[i].rules != nil }

// Verdict returns the verdict on a workload of a queue that some tier accepts; ok is false if none does.
func (t *Taker) Verdict(s *search.Search, queue int, w *cluster.Workload) (v right.Verdict, ok bool) {
	t.fill(w)
	for i := range t.tiers {
		if !t.judges(i) {
			continue
		}
		moment := t.moment(s, i)
		moment.Quota = selectors.AllQuota()
		if t.tiers[i].rules.Accepts(&t.one, moment) {
			of := s.DonorOfRules(queue, donorAt(s, queue, t.tiers[i].reach().Elsewhere()).common)
			return s.VerdictByRules(&of, w), true
		}
	}
	return v, false
}
