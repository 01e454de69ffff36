package nodes

import (
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Outcome is the answer of a decision in one word.
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

// Result answers a request. It is valid until the next search.
type Result struct {
	Outcome Outcome
	Reason  Reason
	// Placement is the chosen one. It is empty if there is none.
	Placement
	// Placeable is, if no domain was chosen, the largest number of members that had a place
	// in any domain.
	Placeable int
	// RetryAt is when the request succeeds if nothing but time changes; Unset: never.
	RetryAt int64
	// Shortages and Blockers say why there is no place.
	Shortages []Shortage
	Blockers  []Blocker
	// Withdrawn lists the IDs of other pods whose nominations are void, sorted.
	Withdrawn []string
	// Proof says how good the victims are, if the exact search looked for them.
	Proof *Proof
}

// Search decides about a valid request.
func (s *Searcher) Search(config *Config, c *Cluster, r *Request) Result {
	s.begin(config, c, r)
	defer s.end()
	found := s.decide()
	if t := r.Trace; t != nil && t.Survey && found.Outcome != Fits {
		t.Survey = false // once, also for a basic group
		s.traceSurvey(t)
	}
	s.numbered(&found.Placement)
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

// Instants lists, rising, the instants after now at which a search may succeed that does not
// succeed now.
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

// begin prepares the search for a request.
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
	s.placeable, s.Checks, s.Opened, s.Tried, s.Looked, s.Elsewhere = 0, 0, 0, 0, 0, 0
	s.enter(config, c, r)
}

// end drops the references to the cluster and the request.
func (s *Searcher) end() {
	clear(s.stays)
	clear(s.violations)
	clear(s.guarded)
	s.c, s.r, s.config, s.compare, s.recent = nil, nil, nil, nil, nil
	for _, list := range []*[]*Unit{&s.stayed, &s.victims, &s.list, &s.violating} {
		clear((*list)[:cap(*list)])
		*list = (*list)[:0]
	}
	clear(s.nodes)
	clear(s.members)
	clear(s.yielding[:cap(s.yielding)])
	s.elsewhere.clear()
	s.trials = trials{order: s.trials.order[:0]}
	if s.exact != nil {
		s.endExact()
	}
}

func (s *Searcher) decide() Result {
	if !s.r.SkipFit {
		d, ok := s.fitsNow()
		if t := s.r.Trace; t != nil {
			t.Add(trace.Step{Kind: trace.Asked, Fits: ok})
		}
		if ok {
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

// never is the result of a request that may not preempt.
func (s *Searcher) never() Result {
	for _, d := range s.ranges {
		s.placeBeside(d)
	}
	return Result{Outcome: Impossible, Reason: PolicyNever, Placeable: s.placeable}
}

// preempt chooses among the domains.
func (s *Searcher) preempt() Result {
	var best Placement
	clean, violating, any := 0, 0, false
	reason := NoVictims
	short := s.short[:0]
	s.least = s.leastNeeds()
	skip := func(d span) bool { return any && s.beaten(d, &best) }
	s.each(skip, func(d span, v verdict) bool {
		switch v {
		case noRoom:
			short = append(short, d)
		case budgetsBar:
			reason = max(reason, Budgets)
		case found:
			rating := s.rate()
			if rating.violations > 0 {
				violating++
			} else {
				clean++
			}
			over := rating.violations > 0 && s.r.MaxDomains > 0 && violating > s.r.MaxDomains
			better := !over && (!any || rating.compare(best.score) < 0)
			if better {
				s.keep(&best, d, rating)
				any = true
			}
			if t := s.r.Trace; t != nil {
				s.traceRating(t, d, rating, better)
			}
		}
		if t := s.r.Trace; t != nil && v != found {
			s.traceDomain(t, trace.DomainEnds, d, v)
		}
		return s.sampled(clean, violating)
	})
	s.short = short
	if !any {
		// On a node that the filters do not permit it is not room that is missing.
		missing := func(d span) bool { return s.r.Group != "" || s.possible(&s.members[0], s.nodes[d.from]) }
		if reason == NoVictims && slices.ContainsFunc(short, missing) {
			reason = NoRoom
		}
		found := Result{Outcome: Impossible, Reason: reason, Placeable: s.placeable}
		if s.config.Exact {
			found.Proof = s.proofOf(nil)
		}
		return found
	}
	if t := s.r.Trace; t != nil {
		t.Add(trace.Step{Kind: trace.Chosen, Domain: best.Domain})
	}
	d := Result{Outcome: Preempt, Placement: best}
	if s.config.Exact {
		d.Proof = s.proofOf(&best)
	}
	if len(best.Victims) == 0 {
		if d.Outcome = Fits; s.anyLeaving && !s.standsNow(&best, s.inOrder(&best)) {
			d.Outcome = Wait // found because members change places, which happens only in a group
		}
		return d
	}
	d.Withdrawn = s.withdrawn(&best)
	return d
}

// withdrawn lists the nominations that a choice makes void: those that conflict with the
// members, and those of waiting pods of a group that yields whole.
func (s *Searcher) withdrawn(c *Placement) []string {
	var list []string
	for _, at := range c.Where {
		if at >= 0 {
			if !c.isNumbered {
				at = s.nodes[at].number
			}
			for _, p := range s.c.nodes.At(int(at)).nominated {
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
