package placement

import (
	"slices"

	"github.com/cedesched/cede/fault"
)

// Decide answers a request. It changes neither the snapshot nor the request. The error is
// about a malformed request only and lists all [fault.List]: no pods, or several without a
// group; empty or repeated IDs; a pod that runs already, has a node or terminates; negative
// amounts; a MinCount that the pods cannot reach; unknown or repeated nodes; a priority that
// is not that of the group, pods that are of another; a timeout without Now. A nil Preemptor
// fails too.
func (p *Preemptor) Decide(snapshot *Snapshot, r Request) (Decision, error) {
	if p != nil && snapshot.cluster().isBasic(r.Group) {
		return p.decideEach(snapshot, r)
	}
	s, err := p.start(snapshot, &r)
	if err != nil {
		return Decision{}, err
	}
	defer p.finish(s)
	d := s.decide()
	d.Pods, d.Now = podsAfter(&r, d.Nominations), r.Now
	return d, nil
}

func (p *Preemptor) start(snapshot *Snapshot, r *Request) (*search, error) {
	if p == nil {
		return nil, fault.List{{Path: "preemptor", Problem: "is nil"}}
	}
	s, _ := p.pool.Get().(*search)
	if s == nil {
		s = &search{stays: map[*unit]bool{}, violations: map[*unit]int{}}
	}
	s.publics = nil
	s.compare = compareUnits
	if importance := p.config.Importance; importance != nil {
		s.compare = func(a, b *unit) int {
			if order := importance(s.public(a), s.public(b)); order != 0 {
				return order
			}
			return compareUnits(a, b)
		}
	}
	if p.config.Importance != nil || len(p.config.Guards) > 0 {
		s.publics = map[*unit]Unit{}
	}
	s.placeable, s.checks = 0, 0
	if err := s.enter(p, snapshot.cluster(), r); err != nil {
		p.pool.Put(s)
		return nil, err
	}
	return s, nil
}

// finish drops what belongs to the snapshot and the request.
func (p *Preemptor) finish(s *search) {
	clear(s.stays)
	clear(s.violations)
	s.c, s.r, s.publics = nil, nil, nil
	for _, list := range []*[]*unit{&s.stayed, &s.victims, &s.list, &s.violating} {
		clear((*list)[:cap(*list)])
		*list = (*list)[:0]
	}
	clear(s.nodes)
	clear(s.members)
	p.pool.Put(s)
}

func (s *search) decide() Decision {
	if !s.r.Unschedulable {
		if d, ok := s.fitsNow(); ok {
			return d
		}
	}
	if s.asBuilt {
		switch {
		case s.r.Policy == PreemptNever:
			return s.never()
		case s.blocked():
			return s.promisedAgain()
		}
		return s.preempt()
	}
	if d, ok := s.fitsSoon(); ok {
		return d
	}
	if s.r.Policy == PreemptNever {
		return s.never()
	}
	return s.preempt()
}

// never refuses a preemptor that may not preempt.
func (s *search) never() Decision {
	for _, d := range s.ranges {
		s.placeBeside(d)
	}
	return Decision{Outcome: Impossible, Reason: PolicyNever, Candidate: Candidate{Placeable: s.placeable}}
}

// preempt chooses among the domains.
func (s *search) preempt() Decision {
	var best choice
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
		return Decision{Outcome: Impossible, Reason: reason, Candidate: Candidate{Placeable: s.placeable}}
	}
	d := Decision{Outcome: Preempt, Candidate: s.candidate(&best)}
	if len(best.victims) == 0 {
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
func (s *search) withdrawn(c *choice) []string {
	var list []string
	for _, at := range c.where {
		if at >= 0 {
			for _, p := range s.nodes[at].nominated {
				if p.priority < s.priority && !s.isMember(p.facts.ID) {
					list = append(list, p.facts.ID)
				}
			}
		}
	}
	if slices.ContainsFunc(c.victims, func(u *unit) bool { return u.group != "" }) {
		for p := range s.c.nominated.All {
			of := func(u *unit) bool { return u.group != "" && u.group == p.facts.Group }
			if slices.ContainsFunc(c.victims, of) && !s.isMember(p.facts.ID) {
				list = append(list, p.facts.ID)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
