package nodes

import "math"

// Shortage is a resource of which there is too little.
type Shortage struct {
	Resource string
	Missing  int64 // the least, on one node, for one more pod
	Domains  int   // the number of domains with too little
}

// findUsable records the nodes on which a member may run.
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

// shortages lists what is missing without all units of lower priority, protected or not; if
// some domain then has enough, without all units that may yield now. For a request that
// preempts nobody no unit is left out. Each resource is counted alone, and each pod as if it
// needed no more than the smallest.
func (s *Searcher) shortages() []Shortage {
	s.forget()
	if s.r.Never {
		s.open(nobody, false)
		return s.missing()
	}
	s.open(s.everybody(), false)
	if list := s.missing(); list != nil || !s.anyRules() {
		return list
	}
	s.keepAll()
	s.open(s.everybody(), false)
	return s.missing()
}

// usableDomains lists the domains: for a single pod each node on which it may run.
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

// missing lists the resources that some domain lacks; nil if one domain has enough of each.
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

// lacks reports whether a domain has too little of one resource alone for the least number of
// members, and the least additional amount for one more of them.
func (s *Searcher) lacks(d span, slot int) (short bool, missing int64) {
	need := s.smallest[slot]
	if need == 0 {
		return false, 0
	}
	places := int64(0)
	missing = math.MaxInt64
	for i := d.from; i < d.to; i++ {
		if !s.usable[i] {
			continue
		}
		if free := s.freeOn(i)[slot]; free >= need {
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
