package nodes

import "math"

// Shortage is a resource of which too little can be had.
type Shortage struct {
	Resource string
	Missing  int64 // on one node at least, for one more pod
	Domains  int   // in which there is too little
}

// findUsable notes the nodes where a member may run.
func (s *Searcher) findUsable() {
	s.usable = resize(s.usable, len(s.nodes))
	for i, n := range s.nodes {
		s.usable[i] = false
		for m := range s.members {
			if s.members[m].same {
				continue
			}
			if s.usable[i] = s.possible(&s.members[m], n); s.usable[i] {
				break
			}
		}
	}
}

// shortages lists what is missing even with everybody of lower priority gone, protected or
// not; where that would do in some domain, with everybody gone who may yield now. Whoever
// preempts nobody has nobody gone. Of each resource alone, and each pod needs as little as
// the smallest.
func (s *Searcher) shortages() []Shortage {
	everywhere := span{"", 0, len(s.nodes)}
	s.forget()
	if s.r.Never {
		s.open(everywhere, nobody, false)
		return s.missing()
	}
	s.open(everywhere, s.everybody(), false)
	if list := s.missing(); list != nil || !s.anyRules() {
		return list
	}
	s.keepAll()
	s.open(everywhere, s.everybody(), false)
	return s.missing()
}

// usableDomains lists the domains: for a single pod each node that it may run on.
func (s *Searcher) usableDomains() []span {
	if s.r.Group != "" {
		return s.ranges
	}
	s.single = s.single[:0]
	for i, usable := range s.usable {
		if usable {
			s.single = append(s.single, span{"", i, i + 1})
		}
	}
	return s.single
}

// missing lists what every domain lacks some of; nil if one has enough of each.
func (s *Searcher) missing() []Shortage {
	width := len(s.slots)
	domains, least := make([]int, width), make([]int64, width)
	for slot := range least {
		least[slot] = math.MaxInt64
	}
	for _, d := range s.usableDomains() {
		short := false
		for slot := range s.slots {
			if lacks, missing := s.lacks(d, slot); lacks {
				short = true
				domains[slot]++
				least[slot] = min(least[slot], missing)
			}
		}
		if !short {
			return nil
		}
	}
	var list []Shortage
	for slot, n := range domains {
		if n > 0 {
			list = append(list, Shortage{s.slots[slot], least[slot], n})
		}
	}
	return list
}

// lacks reports whether a domain has too little of one resource by itself for as many
// members as must have a place, and how much more one more of them would take at least.
func (s *Searcher) lacks(d span, slot int) (short bool, missing int64) {
	need, width := s.smallest[slot], len(s.slots)
	if need == 0 {
		return false, 0
	}
	places := int64(0)
	missing = math.MaxInt64
	for i := d.from; i < d.to; i++ {
		if !s.usable[i] {
			continue
		}
		if free := s.free[i*width+slot]; free >= need {
			places += min(free/need, int64(s.atLeast))
			missing = min(missing, need-free%need)
		} else {
			missing = min(missing, need-free)
		}
		if places >= int64(s.atLeast) {
			return false, 0
		}
	}
	if missing == math.MaxInt64 { // there is no node
		missing = need
	}
	return true, missing
}
