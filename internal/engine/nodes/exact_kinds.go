package nodes

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/packing"
)

// mostPairs limits how often filters are asked about two members on a node. Beyond it the
// problem leaves these conflicts out; whether the answer keeps them is asked in the end.
const mostPairs = 1 << 20

// findKinds says which members may stand for each other, and what rules besides room say about
// them on each node of the domain. The current placement is that without all units that may
// yield.
func (s *Searcher) findKinds(d span) {
	x := s.exact
	x.kinds = x.kinds[:0]
	places := make([][]packing.Place, len(s.members))
	for m := range s.members {
		if one := &s.members[m]; one.allowed != nil || len(s.r.Filters) > 0 {
			places[m] = s.placesOf(d, one)
		}
	}
	apart := s.apart(d)
	alike := func(a, b int) bool {
		if !slices.Equal(s.members[a].needs, s.members[b].needs) || !slices.EqualFunc(places[a], places[b], equalPlaces) {
			return false
		}
		for c := range s.members {
			if apart != nil && c != a && c != b && !slices.Equal(apart(a, c), apart(b, c)) {
				return false
			}
		}
		return true
	}
	for m := range s.members {
		k := slices.IndexFunc(x.kinds, func(members []int) bool { return alike(members[0], m) })
		if k < 0 {
			k, x.kinds = len(x.kinds), append(x.kinds, nil)
		}
		x.kinds[k] = append(x.kinds[k], m)
	}
	for k, members := range x.kinds {
		kind := packing.Kind{Count: len(members), Needs: s.members[members[0]].needs, At: places[members[0]]}
		for other, members := range x.kinds {
			a, b := x.kinds[k][0], members[0]
			if other == k {
				b = members[len(members)-1]
			}
			if apart == nil || a == b {
				continue
			}
			for node, conflict := range apart(a, b) {
				if conflict {
					at := &kind.At[node]
					if at.Apart == nil {
						at.Apart = make([]bool, len(x.kinds))
					}
					at.Apart[other] = true
				}
			}
		}
		x.problem.Kinds = append(x.problem.Kinds, kind)
	}
}

func equalPlaces(a, b packing.Place) bool {
	return a.Barred == b.Barred && slices.Equal(a.Removes, b.Removes)
}

// placesOf says on which nodes a member may be placed, and who must yield for it.
func (s *Searcher) placesOf(d span, one *member) []packing.Place {
	list := make([]packing.Place, d.size())
	for i := d.from; i < d.to; i++ {
		at, n := &list[i-d.from], s.nodes[i]
		if at.Barred = !one.names(n) || len(s.r.Filters) > 0 && !s.filtersPlace(d, one, i); at.Barred || len(s.r.Filters) == 0 {
			continue
		}
		pending := s.asPlaced(one, i)
		for _, p := range n.pods {
			if u := s.unitOf(p); u != nil {
				if n, yields := s.exact.number[u]; yields && s.conflict(pending, p.Facts) && !slices.Contains(at.Removes, n) {
					at.Removes = append(at.Removes, n)
				}
			}
		}
	}
	return list
}

// apart returns a function that says on which nodes two members may not be together; nil: no
// rule says so. Members are placed in order: the later one is asked about the earlier.
func (s *Searcher) apart(d span) func(a, b int) []bool {
	many := len(s.members)
	if len(s.r.Filters) == 0 || many*many*d.size() > mostPairs {
		return nil
	}
	list := make([][]bool, many*many)
	for b := range many {
		for a := range b {
			on := make([]bool, d.size())
			for i := d.from; i < d.to; i++ {
				on[i-d.from] = s.conflict(s.asPlaced(&s.members[b], i), s.asPlaced(&s.members[a], i))
			}
			list[a*many+b], list[b*many+a] = on, on
		}
	}
	return func(a, b int) []bool { return list[a*many+b] }
}
