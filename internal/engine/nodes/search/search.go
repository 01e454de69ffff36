package search

import (
	"iter"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
)

// Spent returns what the last decision cost.
func (s *Search) Spent() room.Cost { return s.spent }

// enter prepares the search for a request.
func (s *Search) enter(config *ask.Config, c *state.Cluster, r *ask.Request) {
	s.Begin(config, c, r)
	s.begin()
	s.spent = room.Cost{}
}

// leave drops the references to the cluster and the request.
func (s *Search) leave() {
	s.spent = s.spent.Plus(s.Cost)
	s.end()
	if s.then != nil {
		s.then.request = ask.Request{}
	}
}

// Decide decides about a valid request.
func (s *Search) Decide(config *ask.Config, c *state.Cluster, r *ask.Request) Result {
	s.enter(config, c, r)
	defer s.leave()
	found := s.decide()
	if t := r.Trace; t != nil && t.Survey && found.Outcome != Fits {
		t.Survey = false // once, also for a basic group
		s.noteSurvey(t)
	}
	found.RetryAt = instant.Unset
	if found.Outcome == Fits || found.Outcome == Preempt || r.Extent == ask.OutcomeOnly {
		return found
	}
	if found.Outcome == Impossible {
		s.findUsable()
		found.Shortages = s.shortages()
		s.Forget()
		found.Blockers = s.blockers(found.Shortages, r.MaxBlockers)
	}
	if r.Extent == ask.WithReasons {
		return found
	}
	if at, ok := s.retryAt(); ok {
		found.Outcome = Wait
		if r.MaxRetrySteps >= 0 {
			found.RetryAt = at
		}
	}
	return found
}

// Candidates iterates over the units that may yield in the domains, the least important first. The search serves nothing else as long
// as the iteration lasts.
func (s *Search) Candidates(config *ask.Config, c *state.Cluster, r *ask.Request) iter.Seq[*state.Unit] {
	s.enter(config, c, r)
	domains, levels, isMixed := s.list(), s.Levels, r.Rules.Importance != nil
	if isMixed && len(levels) > 0 {
		levels = levels[:1] // the order of the caller may mix the priorities
	}
	return func(yield func(*state.Unit) bool) {
		before := func(a, b **state.Unit) bool { return s.Compare(*a, *b) > 0 }
		var list []*state.Unit
		for _, priority := range levels {
			list = list[:0]
			for _, d := range domains {
				for _, n := range s.Nodes[d.From:d.To] {
					for _, p := range n.Pods {
						if p.Priority != priority && !isMixed {
							continue
						}
						if u, v := s.VerdictOf(p, s.Now); v.Rule == 0 {
							list = append(list, u)
						}
					}
				}
			}
			heap.Init(list, before)
			var last *state.Unit // a unit is there once for each of its pods
			for h := list; len(h) > 0; h = heap.Drop(h, before) {
				if h[0] != last && !yield(h[0]) {
					return
				}
				last = h[0]
			}
		}
	}
}

// Instants lists, rising, the instants after now at which a decision may succeed that does not succeed now.
func (s *Search) Instants(config *ask.Config, c *state.Cluster, r *ask.Request) []int64 {
	s.enter(config, c, r)
	defer s.leave()
	return s.instants()
}

// Placements returns every domain in which preemption makes room, in the order of the domains. With sampling it
// returns at most MaxDomains: domains without violations first.
func (s *Search) Placements(config *ask.Config, c *state.Cluster, r *ask.Request) []place.Placement {
	s.enter(config, c, r)
	defer s.leave()
	return s.placements()
}

// Choose scores placements that were made outside and returns the result for the best; of equal ones it is the first.
// Where has the cluster's numbers, and every node is schedulable.
func (s *Search) Choose(config *ask.Config, c *state.Cluster, r *ask.Request, list []place.Placement) Result {
	s.enter(config, c, r)
	defer s.leave()
	best := &list[0]
	for i := range list {
		list[i].Rate()
		if list[i].Score.Compare(best.Score) < 0 {
			best = &list[i]
		}
	}
	found := Result{Outcome: Preempt, Placement: *best, RetryAt: instant.Unset}
	if len(best.Victims) == 0 {
		found.Outcome = Fits
	}
	found.Withdrawn = s.withdrawn(&found.Placement, c.Node)
	return found
}
