package nodes

import (
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
)

// Outcome is what a decision comes to.
type Outcome uint8

const (
	Fits Outcome = 1 + iota
	Preempt
	Wait
	Impossible
)

// Reason says why preemption is impossible.
type Reason uint8

const (
	PolicyNever Reason = 1 + iota
	NoVictims
	NoRoom
	Budgets
)

// Result answers a request. What it points to is the searcher's, until the next search.
type Result struct {
	Outcome Outcome
	Reason  Reason
	// Choice is the domain that was chosen. Without a place it is empty.
	Choice
	// Placeable is the most members that had a place in any domain, where none was chosen.
	Placeable int
	// RetryAt is when it succeeds with nothing but time changed; unset for never.
	RetryAt int64
	// Shortages and Blockers are why it has no place.
	Shortages []Shortage
	Blockers  []Blocker
	// Withdrawn is the IDs of others whose promises are void, sorted.
	Withdrawn []string
}

// Search decides about a request that was checked.
func (s *Searcher) Search(config *Config, c *Cluster, r *Request) Result {
	s.begin(config, c, r)
	defer s.end()
	found := s.decide()
	s.numbered(&found.Choice)
	found.RetryAt = instant.Unset
	if found.Outcome == Fits || found.Outcome == Preempt || r.Extent == OutcomeOnly {
		return found
	}
	if found.Outcome == Impossible {
		s.explain(&found)
	}
	if r.Extent == WithReasons {
		return found
	}
	if at, ok := s.retryAt(); ok {
		found.Outcome = Wait
		if !r.SkipRetryAt {
			found.RetryAt = at
		}
	}
	return found
}

// Instants lists the instants after now at which a search may succeed that does not now,
// rising.
func (s *Searcher) Instants(config *Config, c *Cluster, r *Request) []int64 {
	s.begin(config, c, r)
	defer s.end()
	return s.instants()
}

// explain says why there is no place.
func (s *Searcher) explain(found *Result) {
	s.findUsable()
	found.Shortages = s.shortages()
	s.forget()
	found.Blockers = s.blockers(found.Shortages, s.r.MaxBlockers)
}

// begin enters a request.
func (s *Searcher) begin(config *Config, c *Cluster, r *Request) {
	if s.stays == nil {
		s.stays, s.violations, s.guarded = map[*Unit]bool{}, map[*Unit]int{}, map[*Unit]int64{}
	}
	s.compare = compareUnits
	if r.Importance != nil {
		s.compare = func(a, b *Unit) int {
			if order := r.Importance(a, b); order != 0 {
				return order
			}
			return compareUnits(a, b)
		}
	}
	s.placeable, s.Checks = 0, 0
	s.enter(config, c, r)
}

// end drops what belongs to the cluster and the request.
func (s *Searcher) end() {
	clear(s.stays)
	clear(s.violations)
	clear(s.guarded)
	s.c, s.r, s.config, s.compare = nil, nil, nil, nil
	for _, list := range []*[]*Unit{&s.stayed, &s.victims, &s.list, &s.violating} {
		clear((*list)[:cap(*list)])
		*list = (*list)[:0]
	}
	clear(s.nodes)
	clear(s.members)
}

func (s *Searcher) decide() Result {
	if !s.r.SkipFit {
		if d, ok := s.fitsNow(); ok {
			return d
		}
	}
	if s.asBuilt {
		switch {
		case s.r.Never:
			return s.never()
		case s.blocked():
			return s.promisedAgain()
		}
		return s.preempt()
	}
	if d, ok := s.fitsSoon(); ok {
		return d
	}
	if s.r.Never {
		return s.never()
	}
	return s.preempt()
}

// never refuses a preemptor that may not preempt.
func (s *Searcher) never() Result {
	for _, d := range s.ranges {
		s.placeBeside(d)
	}
	return Result{Outcome: Impossible, Reason: PolicyNever, Placeable: s.placeable}
}

// preempt chooses among the domains.
func (s *Searcher) preempt() Result {
	var best Choice
	clean, violating, any := 0, 0, false
	reason := NoVictims
	s.least = s.leastNeeds()
	skip := func(d span) bool { // no victim of a priority so low makes room there
		return any && best.score.violations == 0 && s.config.MaxCandidates == 0 && d.size() == 1 && s.leastHighest(d) > int64(best.score.highest)
	}
	s.each(skip, func(d span, v verdict) bool {
		switch v {
		case noRoom:
			reason = max(reason, NoRoom)
		case budgetsBar:
			reason = max(reason, Budgets)
		case found:
			rating := s.rate()
			if rating.violations > 0 {
				violating++
			} else {
				clean++
			}
			over := rating.violations > 0 && s.config.MaxCandidates > 0 && violating > s.config.MaxCandidates
			if !over && (!any || rating.compare(best.score) < 0) {
				s.keep(&best, d, rating)
				any = true
			}
		}
		return s.sampled(clean, violating)
	})
	if !any {
		return Result{Outcome: Impossible, Reason: reason, Placeable: s.placeable}
	}
	d := Result{Outcome: Preempt, Choice: best}
	if len(best.Victims) == 0 {
		if d.Outcome = Fits; s.anyLeaving && !s.standsNow(&best) {
			d.Outcome = Wait // found as members change places, which is for a group only
		}
		return d
	}
	d.Withdrawn = s.withdrawn(&best)
	return d
}

// withdrawn lists the promises that a choice makes void: in the way of the members, or to
// waiting pods of a group that yields whole.
func (s *Searcher) withdrawn(c *Choice) []string {
	var list []string
	for _, at := range c.Where {
		if at >= 0 {
			for _, p := range s.nodes[at].nominated {
				if p.priority < s.priority && !s.isMember(p.Facts.ID) {
					list = append(list, p.Facts.ID)
				}
			}
		}
	}
	if slices.ContainsFunc(c.Victims, func(u *Unit) bool { return u.Group != "" }) {
		for p := range s.c.nominated.All {
			of := func(u *Unit) bool { return u.Group != "" && u.Group == p.Facts.Group }
			if slices.ContainsFunc(c.Victims, of) && !s.isMember(p.Facts.ID) {
				list = append(list, p.Facts.ID)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
