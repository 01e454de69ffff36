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

// Candidates returns every domain in which preemption makes room, with its victims, in
// the order of the domains (at most as many as are sampled, see Config.MaxCandidates:
// those without violations first). It asks about preemption alone: a domain where nobody
// has to yield is none, and neither PolicyNever nor promises count. Errors are those of
// [Preemptor.Decide].
func (p *Preemptor) Candidates(snapshot *Snapshot, r Request) ([]Candidate, error) {
	s, err := p.start(snapshot, &r)
	if err != nil {
		return nil, err
	}
	defer p.finish(s)
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

// fitsNow looks for room as things stand.
func (s *search) fitsNow() (Decision, bool) {
	for _, d := range s.ranges {
		s.open(d, nobody, true)
		if s.place(d) >= s.atLeast {
			return s.without(Fits, d), true
		}
	}
	return Decision{}, false
}

// fitsSoon looks for room once what terminates is gone: where it was promised, then
// anywhere. (KEP-5710, Delayed preemption: while the nomination is feasible there is no new
// preemption; else everything starts afresh, with the earlier victims gone.)
func (s *search) fitsSoon() (Decision, bool) {
	if s.promised {
		for _, d := range s.ranges {
			if s.open(d, nobody, false); s.placePromised(d) >= s.atLeast {
				return s.without(Wait, d), true
			}
		}
	}
	if !s.anyLeaving {
		return Decision{}, false
	}
	for _, d := range s.ranges {
		s.open(d, nobody, false)
		if s.place(d) >= s.atLeast {
			return s.without(Wait, d), true
		}
	}
	return Decision{}, false
}

// placePromised places the members that were nominated in the domain where they were. It
// returns how many still fit.
func (s *search) placePromised(d span) int {
	placed := 0
	for m := range s.members {
		one := &s.members[m]
		if one.promise < 0 {
			continue
		}
		at := s.local[one.promise]
		if int(at) >= d.from && int(at) < d.to && s.fits(d, one, int(at)) {
			s.where[m] = at
			s.put(one, at)
			placed++
		}
	}
	return placed
}

// without is a decision with no victims.
func (s *search) without(outcome Outcome, d span) Decision {
	var c choice
	s.victims = s.victims[:0]
	s.keep(&c, d, score{})
	out := Decision{Outcome: outcome, Candidate: s.candidate(&c)}
	if s.r.Group == "" {
		out.Domain = out.Nominations[0].Node
	}
	return out
}

// blocked reports whether earlier victims still terminate on a node that a member was
// nominated to (as built in v1.36 and v1.37). A single pod is not blocked by a node that
// has become impossible for it.
func (s *search) blocked() bool {
	for m := range s.members {
		one := &s.members[m]
		if one.promise < 0 {
			continue
		}
		n := s.c.nodes.At(int(one.promise))
		if s.r.Group == "" && !s.possible(one, n) {
			continue
		}
		if slices.ContainsFunc(n.pods, func(p *pod) bool { return p.facts.Preempted && p.priority < s.priority }) {
			return true
		}
	}
	return false
}

func (s *search) possible(one *member, n *node) bool {
	if n.facts.Unschedulable {
		return false
	}
	if one.allowed != nil {
		if _, ok := slices.BinarySearch(one.allowed, n.number); !ok {
			return false
		}
	}
	for _, f := range s.config.Filters {
		if !f.Feasible(*one.facts, n.facts) {
			return false
		}
	}
	return true
}

// promisedAgain keeps the promises as they are.
func (s *search) promisedAgain() Decision {
	d := Decision{Outcome: Wait}
	for m := range s.members {
		if one := &s.members[m]; one.promise >= 0 {
			d.Nominations = append(d.Nominations, Nomination{one.facts.ID, s.c.names[one.promise]})
		}
	}
	d.Placeable = len(d.Nominations)
	return d
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
// node: with all units up to it gone there is enough of each resource for a member.
func (s *search) leastHighest(d span) int64 {
	width := len(s.slots)
	row := func(list []int64, at int) []int64 { return list[at*width:][:width] }
	bound := int64(nobody)
	for slot, need := range s.members[0].needs {
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

// sampled reports whether enough candidates for a single pod were found.
func (s *search) sampled(clean, violating int) bool {
	n := s.config.MaxCandidates
	return n > 0 && s.r.Group == "" && clean > 0 && clean+min(violating, n) >= n
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
