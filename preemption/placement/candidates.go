package placement

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/quota"
)

// Candidates returns every domain in which preemption makes room, with its victims, in
// the order of the domains (at most as many as are sampled, see Config.MaxCandidates:
// those without violations first). It asks about preemption alone: a domain where nobody
// has to yield is none, and neither PolicyNever nor promises count. Errors are those of
// [Preemptor.Decide], and one for several pods of a group that is Basic: each has candidates
// of its own.
func (p *Preemptor) Candidates(snapshot *Snapshot, r Request) ([]Candidate, error) {
	if snapshot.cluster().isBasic(r.Group) && len(r.Pods) == 1 {
		r = r.alone(0)
	}
	s, err := p.start(snapshot, &r)
	if err != nil {
		return nil, err
	}
	defer p.finish(s)
	if s.c.isBasic(r.Group) {
		return nil, fault.List{{Path: "request.pods", Problem: fmt.Sprintf("%d of the basic group %q: each has candidates of its own", len(r.Pods), r.Group)}}
	}
	var clean, violating []Candidate
	s.each(nil, func(d span, v verdict) bool {
		if v == found && len(s.victims) > 0 {
			var c choice
			s.keep(&c, d, s.rate())
			if c.score.violations == 0 {
				clean = append(clean, s.candidate(&c))
			} else if n := s.config.MaxCandidates; n == 0 || len(violating) < n {
				violating = append(violating, s.candidate(&c))
			}
		}
		return s.sampled(len(clean), len(violating))
	})
	if s.config.MaxCandidates > 0 {
		return append(clean, violating...), nil
	}
	list := append(clean, violating...)
	order := map[string]int{}
	for i, d := range s.domains() {
		order[s.domainName(d)] = i
	}
	slices.SortFunc(list, func(a, b Candidate) int { return order[a.Domain] - order[b.Domain] })
	return list, nil
}

// domains lists the domains in order: for a single pod each node that it may run on.
func (s *search) domains() []span {
	if s.r.Group != "" {
		return s.ranges
	}
	var list []span
	for i, n := range s.nodes {
		if s.possible(&s.members[0], n) {
			list = append(list, span{"", i, i + 1})
		}
	}
	return list
}

func (s *search) domainName(d span) string {
	if s.r.Group == "" {
		return s.nodes[d.from].facts.Name
	}
	return d.name
}

// each searches the domains one by one, those that may be skipped left out, until the
// visitor says stop.
func (s *search) each(skip func(d span) bool, visit func(d span, v verdict) (stop bool)) {
	list := s.domains()
	first := 0
	if s.r.Group == "" && s.config.MaxCandidates > 0 && len(list) > 0 {
		first = s.config.FirstNode % len(list)
	}
	for i := range list {
		d := list[(first+i)%len(list)]
		if skip != nil && skip(d) {
			continue
		}
		v := s.run(d, false)
		if v == found && s.config.Budgets == Hard && !s.withinBudgets() {
			if v = s.run(d, true); v != found {
				v = budgetsBar
			}
		}
		if v == found && s.config.Budgets == Hard {
			clear(s.violations)
		}
		if v == found && len(s.victims) == 0 && s.r.Group == "" && s.r.Unschedulable {
			v = noRoom
		}
		if visit(d, v) {
			return
		}
	}
}

// leastHighest is a lower bound on the highest priority of a victim, on a domain of one
// node: unless a unit of that priority goes, there is too little of a resource for as many
// members as must have a place, whichever they are.
func (s *search) leastHighest(d span) int64 {
	s.forget() // of the domain before
	width := len(s.slots)
	row := func(list []int64, at int) []int64 { return list[at*width:][:width] }
	bound := int64(nobody)
	for slot, need := range s.least {
		if need == 0 {
			continue
		}
		free := row(s.capacity, d.from)[slot] - row(s.fixed, d.from)[slot]
		at := int(s.rowAt[d.to])
		for ; at > int(s.rowAt[d.from]); at-- { // the most important first, while there is room
			if free -= row(s.gone, at-1)[slot]; free < need {
				bound = max(bound, int64(s.rows[at-1].priority))
				break
			}
		}
	}
	return bound
}

// leastNeeds is what as many members as must have a place need at least, by slot: the
// smallest of each.
func (s *search) leastNeeds() []int64 {
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

// sampled reports whether enough candidates for a single pod were found.
func (s *search) sampled(clean, violating int) bool {
	n := s.config.MaxCandidates
	return n > 0 && s.r.Group == "" && clean > 0 && clean+min(violating, n) >= n
}
