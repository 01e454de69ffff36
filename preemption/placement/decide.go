package placement

import "slices"

// Decide answers a request. It changes neither the snapshot nor the request. The error is
// about a malformed request only and lists all [Faults]: no pods, or several without a
// group; empty or repeated IDs; a pod that runs already, has a node or terminates; negative
// amounts; a MinCount that the pods cannot reach; unknown or repeated nodes.
func (p *Preemptor) Decide(snapshot *Snapshot, r Request) (Decision, error) {
	s, err := p.start(snapshot, &r)
	if err != nil {
		return Decision{}, err
	}
	defer p.finish(s)
	d := s.decide()
	own := r
	own.Pods = make([]Pod, len(r.Pods))
	for i := range r.Pods {
		own.Pods[i] = r.Pods[i].Clone()
	}
	d.request = &own
	return d, nil
}

func (p *Preemptor) start(snapshot *Snapshot, r *Request) (*search, error) {
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
			return Decision{Outcome: Impossible, Reason: PolicyNever}
		case s.blocked():
			return s.promisedAgain()
		}
		return s.preempt()
	}
	if d, ok := s.fitsSoon(); ok {
		return d
	}
	if s.r.Policy == PreemptNever {
		return Decision{Outcome: Impossible, Reason: PolicyNever}
	}
	return s.preempt()
}

// preempt chooses among the domains.
func (s *search) preempt() Decision {
	var best choice
	clean, violating, any := 0, 0, false
	reason := NoVictims
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
		d.Outcome = Fits
		return d
	}
	for _, at := range best.where {
		if at >= 0 {
			for _, p := range s.nodes[at].nominated {
				if p.priority < s.priority && !s.isMember(p.facts.ID) {
					d.Withdrawn = append(d.Withdrawn, p.facts.ID)
				}
			}
		}
	}
	slices.Sort(d.Withdrawn)
	d.Withdrawn = slices.Compact(d.Withdrawn)
	return d
}
