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
	if at.others.Free && gone == usage.InNeed {
		return
	}
	hopeless := s.HopelessByRules(gone, at.others.Free, func(cohort int) right.Permission {
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
	traits := map[string]map[selectors.Trait]bool{} // of what runs, by queue
	has := func(queue string, asked []selectors.Trait) bool {
		of, known := traits[queue]
		if !known {
			of = map[selectors.Trait]bool{}
			node, _ := s.Cluster.QueueNode(queue)
			for w := range s.Cluster.Running(node).Workloads {
				of[selectors.Trait{Value: w.Facts.PriorityClass()}] = true
				for key, value := range w.Facts.Labels() {
					of[selectors.Trait{Key: key, Value: value}] = true
				}
			}
			traits[queue] = of
		}
		for _, trait := range asked {
			if of[trait] {
				return true
			}
		}
		return false
	}
	for i := range t.tiers {
		if by := t.rulesOf(i); by != nil {
			own, others := by.Reaches(has)
			at.own.Add(own)
			at.others.Add(others)
		}
	}
}
