package rules

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/internal/engine/usage"
)

// sums is what the sums of the snapshot say of the request.
type sums struct {
	asked [usage.Kinds]bool
	// refuses is the bound that proves the request hopeless; Victims: none of those asked.
	refuses usage.Gone
	known   bool
	reach   selectors.Reach // of the selectors of all tiers, if known
}

// Hopeless returns the first bound that proves that the request never fits; Victims: there is none. It does
// not fit without all workloads that the policies permit or that are where some selector may accept any, whatever
// protects them: in the own queue and in queues that borrow anything, or in all queues if some selector has
// no constraint on quota. By rules alone, queues that borrow what needs preemption are a closer bound, and
// what is short in a bound is recorded.
func (t *Taker) Hopeless(s *search.Search) usage.Gone {
	if t.askSums(s, usage.InReach); s.Request.Rules.Alone {
		t.askSums(s, usage.InNeed)
	}
	return t.sums.refuses
}

// hopelessNow asks the bounds when the policies' attempts do (see search.HopelessByNow).
func (t *Taker) hopelessNow(s *search.Search) bool {
	switch {
	case !s.AsksNow():
		return false
	case len(s.Taken) > 1:
		t.Hopeless(s)
	case s.FreesLittle(&s.Taken[0]):
		t.askSums(s, usage.InReach)
	}
	return t.sums.refuses != usage.Victims
}

// askSums asks a bound, once, unless another one proved enough.
func (t *Taker) askSums(s *search.Search, gone usage.Gone) {
	at := &t.sums
	if at.asked[gone] || at.refuses != usage.Victims {
		return
	}
	at.asked[gone] = true
	reach := t.reach()
	if reach.Anywhere && gone == usage.InNeed {
		return
	}
	hopeless := s.HopelessByRules(gone, reach.Anywhere, func(cohort int) right.Permission {
		own := cohort < 0
		if own && reach.Own || !own && reach.Others {
			return right.Permission{All: true}
		}
		return s.ByPolicy(own)
	})
	if hopeless {
		at.refuses = gone
	}
}

// reach returns whom the selectors of all tiers may accept.
func (t *Taker) reach() selectors.Reach {
	at := &t.sums
	if !at.known {
		at.known = true
		for i := range t.tiers {
			if by := t.rulesOf(i); by != nil {
				r := by.Reaches()
				at.reach.Own, at.reach.Others = at.reach.Own || r.Own, at.reach.Others || r.Others
				at.reach.Anywhere = at.reach.Anywhere || r.Anywhere
			}
		}
	}
	return at.reach
}
