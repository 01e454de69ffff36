package rules

import (
	"github.com/cedesched/cede/internal/engine/cluster"
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
	// own and others are what the selectors of all tiers may accept in the own queue and elsewhere, if known.
	known       bool
	own, others selectors.Reach
}

// Hopeless returns the first bound that proves that the request never fits; Victims: there is none. It does
// not fit without all workloads of a priority that the policies permit or some selector may accept, whatever
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
	t.sumUp(s)
	extent := extentOf(&at.others)
	if !s.Cluster.Keeps(extent) || extent == cluster.AllChildren && gone == usage.InNeed {
		return
	}
	hopeless := s.HopelessByRules(gone, extent, func(cohort int) right.Permission {
		switch {
		case cohort < 0:
			return right.UpTo(at.own.Free, at.own.Most).Or(s.ByPolicy(true))
		case s.Advantage(gone, cohort):
			return right.UpTo(at.others.Any, at.others.Most).Or(s.ByPolicy(false))
		}
		return right.UpTo(at.others.Others, at.others.MostOthers).Or(s.ByPolicy(false))
	})
	if hopeless {
		at.refuses = gone
	}
}

// sumUp finds out what the selectors of all tiers may accept.
func (t *Taker) sumUp(s *search.Search) {
	at := &t.sums
	if at.known {
		return
	}
	at.known = true
	for i := range t.tiers {
		if t.rulesOf(i) == nil {
			continue
		}
		by := t.tiers[i].reach()
		at.own.Add(by.Of(s.Cluster.Queue(s.Request.Queue).Name))
		at.others.Add(by.Elsewhere())
		eachByTraits(s, by, func(node int, r selectors.Reach) {
			if node == s.Request.Queue {
				at.own.Add(r)
			} else {
				at.others.Add(r)
			}
		})
	}
}
