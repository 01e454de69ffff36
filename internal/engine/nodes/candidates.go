package nodes

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/quota"
)

// Placements returns every domain in which preemption makes room, in the order of the
// domains. With sampling it returns at most MaxDomains: those without violations first.
func (s *Searcher) Placements(config *Config, c *Cluster, r *Request) []Placement {
	s.begin(config, c, r)
	defer s.end()
	var all, clean, violating []Placement // all: in the order of the domains
	s.each(nil, func(d span, v verdict) bool {
		if v == found && len(s.victims) > 0 {
			var c Placement
			s.keep(&c, d, s.rate())
			s.numbered(&c)
			n := s.r.MaxDomains
			switch {
			case n == 0:
				all = append(all, c)
			case c.score.violations == 0:
				clean = append(clean, c)
			case len(violating) < n:
				violating = append(violating, c)
			}
		}
		return s.sampled(len(clean), len(violating))
	})
	return slices.Concat(all, clean, violating)
}

// domains lists the domains in order: for a single pod the nodes that it names. Whether the
// filters permit a node is asked when the pod is placed there.
func (s *Searcher) domains() []span {
	if s.r.Group != "" {
		return s.ranges
	}
	s.single = s.single[:0]
	for i, n := range s.nodes {
		if s.members[0].names(n) {
			s.single = append(s.single, span{"", i, i + 1})
		}
	}
	return s.single
}

// each searches the domains one by one, without those that skip returns true for, until visit
// says stop.
func (s *Searcher) each(skip func(d span) bool, visit func(d span, v verdict) (stop bool)) {
	list := s.domains()
	first := 0
	if s.r.Group == "" && s.r.MaxDomains > 0 && len(list) > 0 {
		first = s.r.FirstNode % len(list)
	}
	for i := range list {
		d := list[(first+i)%len(list)]
		if skip != nil && skip(d) {
			if t := s.r.Trace; t != nil {
				s.traceDomain(t, trace.DomainSkipped, d, 0)
			}
			continue
		}
		if v, ok := s.refused(d); ok {
			if visit(d, v) {
				return
			}
			continue
		}
		if t := s.r.Trace; t != nil {
			s.traceDomain(t, trace.DomainBegins, d, 0)
		}
		v := s.run(d, false)
		if v == found && s.config.HardBudgets && !s.withinBudgets() {
			if t := s.r.Trace; t != nil {
				t.Add(trace.Step{Kind: trace.DomainBegins, Domain: s.domainName(d), Second: true})
			}
			if v = s.run(d, true); v != found {
				v = budgetsBar
			}
		}
		if s.config.Exact {
			v = s.improve(d, v)
		}
		if v == found && s.config.HardBudgets {
			clear(s.violations)
		}
		if v == found && len(s.victims) == 0 && s.r.Group == "" && s.r.SkipFit {
			v = noRoom
		}
		if visit(d, v) {
			return
		}
	}
}

// leastHighest returns a lower bound on the highest priority of a victim in a domain of one
// node: unless units of that priority yield, some resource is too short for the least number
// of members, whichever they are.
func (s *Searcher) leastHighest(d span) int64 {
	s.forget() // of the domain before
	width := len(s.slots)
	row := func(list []int64, at int) []int64 { return list[at*width:][:width] }
	bound := int64(nobody)
	for slot, need := range s.least {
		if need == 0 {
			continue
		}
		from, at := s.rowsOf(d.from)
		free := row(s.capacity, d.from)[slot] - row(s.fixed, d.from)[slot]
		for ; at > from; at-- { // the most important first, while there is room
			if free -= row(s.gone, at-1)[slot]; free < need {
				bound = max(bound, int64(s.rows[at-1].priority))
				break
			}
		}
	}
	return bound
}

// leastNeeds returns what the least number of members needs at least, by slot: the smallest
// members in each slot.
func (s *Searcher) leastNeeds() []int64 {
	least := make([]int64, len(s.slots))
	list := make([]int64, len(s.members))
	for slot := range least {
		for m := range s.members {
			list[m] = s.members[m].needs[slot]
		}
		slices.Sort(list)
		for _, need := range list[:s.atLeast] {
			least[slot] = quota.Add(least[slot], need)
		}
	}
	return least
}

// sampled reports whether enough candidates were found for a single pod.
func (s *Searcher) sampled(clean, violating int) bool {
	n := s.r.MaxDomains
	return n > 0 && s.r.Group == "" && clean > 0 && clean+min(violating, n) >= n
}

func (s *Searcher) domainName(d span) string {
	if s.r.Group == "" {
		return s.nodes[d.from].Facts.Name
	}
	return d.name
}
