package nodes

import (
	"math"
	"math/bits"

	"github.com/cedesched/cede/workload"
)

// place gives members without a place one in the domain, in their order. A member that does
// not fit is skipped. It returns the number of members that it placed.
func (s *Searcher) place(d span) int {
	if s.r.Placer != nil {
		return s.placeOutside(d)
	}
	placed, last, before := 0, int32(-1), -2 // before: the member tried last
	for m := range s.members {
		if s.where[m] >= 0 {
			continue // it is where it was nominated
		}
		one := &s.members[m]
		again := one.same && before == m-1
		if before = m; again && s.where[m-1] < 0 {
			continue // no place for the member before, so none for this one
		}
		at := int32(-1)
		switch s.config.Order {
		case BestFit:
			at = s.bestFit(d, one, again, last)
		case RoundRobin:
			at = s.firstFit(d, one, int(last)+1)
		default:
			from := d.from
			if again {
				from = int(last) // the nodes before it were too small for an equal member
			}
			at = s.firstFit(d, one, from)
		}
		if at >= 0 {
			s.put(m, at)
			last = at
			placed++
		}
	}
	return placed
}

// put places a member on a node.
func (s *Searcher) put(m int, at int32) {
	s.where[m] = at
	s.trials.order = append(s.trials.order, int32(m))
	if s.count[at]++; s.count[at] == 1 {
		s.used = append(s.used, at)
	}
	free, asked := s.freeOn(int(at)), s.asked[int(at)*len(s.slots):]
	for slot, need := range s.members[m].needs {
		if need > 0 {
			free[slot] -= need
			asked[slot] = true
		}
	}
}

// firstFit returns the first node at or after from, wrapping around, on which the member
// fits.
func (s *Searcher) firstFit(d span, one *member, from int) int32 {
	if from < d.from || from >= d.to {
		from = d.from
	}
	for i := from; i < d.to; i++ {
		if s.fits(d, one, i) {
			return int32(i)
		}
	}
	for i := d.from; i < from; i++ {
		if s.fits(d, one, i) {
			return int32(i)
		}
	}
	return -1
}

const tooSmall = math.MaxUint64

// bestFit returns the node with the least left. For a member equal to the one before only the
// node of that one is rated again.
func (s *Searcher) bestFit(d span, one *member, again bool, last int32) int32 {
	if s.tight = resize(s.tight, len(s.nodes)); again {
		s.tight[last] = s.tightness(d, one, int(last))
	} else {
		for i := d.from; i < d.to; i++ {
			s.tight[i] = s.tightness(d, one, i)
		}
	}
	best, at := uint64(tooSmall), int32(-1)
	for i := d.from; i < d.to; i++ {
		if s.tight[i] < best {
			best, at = s.tight[i], int32(i)
		}
	}
	return at
}

// tightness says how much of a node would be left: the sum of left/capacity over the
// resources that the member needs, in units of 2^-32.
func (s *Searcher) tightness(d span, one *member, i int) uint64 {
	if !s.fits(d, one, i) {
		return tooSmall
	}
	var sum uint64
	width := len(s.slots)
	for slot, need := range one.needs[1:] {
		if cell := i*width + slot + 1; need > 0 {
			high, low := bits.Mul64(uint64(s.free[cell]-need), 1<<32)
			part, _ := bits.Div64(high, low, uint64(s.capacity[cell]))
			sum += part
		}
	}
	return sum
}

// fits reports whether a member has room on a node, may run there, and has no conflict with
// pods that run there or are nominated ahead of it.
func (s *Searcher) fits(d span, one *member, i int) bool {
	if !one.names(s.nodes[i]) || s.isFree[i] != int32(s.Opened) && s.isFull(one, i) {
		return false
	}
	s.Tried++
	free := s.freeOn(i)
	for slot, need := range one.needs {
		if need > free[slot] && need > 0 {
			return false
		}
	}
	return !s.r.filtered() || s.filtersPlace(d, one, i) && s.trialsAllow(d, one, i)
}

// filtersPlace asks the filters about a member on a node.
func (s *Searcher) filtersPlace(d span, one *member, i int) bool {
	n := s.nodes[i]
	for _, f := range s.r.Filters {
		if !f.Rule.Feasible(*one.Facts, n.Facts) {
			return false
		}
	}
	pending := s.asPlaced(one, i)
	if s.wide {
		for p := range s.c.pods.All {
			if (s.isThere(p) || s.isElsewhere(d, p)) && s.conflict(pending, p.Facts) {
				return false
			}
		}
		for p := range s.c.nominated.All {
			if s.isAhead(p) && s.conflict(pending, p.Facts) {
				return false
			}
		}
	} else {
		for _, p := range n.pods {
			if s.isThere(p) && s.conflict(pending, p.Facts) {
				return false
			}
		}
		for _, p := range n.nominated {
			if s.isAhead(p) && s.conflict(pending, p.Facts) {
				return false
			}
		}
	}
	for m := range s.members {
		other := &s.members[m]
		if other == one {
			continue // where still holds an earlier try
		}
		if at := s.where[m]; at >= 0 && (s.wide || int(at) == i) && s.conflict(pending, s.asPlaced(other, int(at))) {
			return false
		}
	}
	return true
}

// asPlaced returns the pod of a member as if it ran on a node.
func (s *Searcher) asPlaced(one *member, i int) workload.Pod {
	p := *one.Facts
	p.Node = s.nodes[i].Facts.Name
	return p
}

func (s *Searcher) conflict(pod, other workload.Pod) bool {
	for _, f := range s.r.Filters {
		if (pod.Node == other.Node || f.Wide) && f.Rule.Conflict(pod, other) {
			return true
		}
	}
	return false
}

// filtersAllow reports whether the placed members have no conflict with a unit that is put
// back.
func (s *Searcher) filtersAllow(d span, u *Unit) bool {
	if len(s.r.Filters) == 0 {
		return true
	}
	for m, at := range s.where {
		if at < 0 {
			continue
		}
		for _, p := range u.Pods {
			if (s.wide || s.local[p.node] == at) && s.conflict(s.asPlaced(&s.members[m], int(at)), p.Facts) {
				return false
			}
		}
	}
	return true
}
