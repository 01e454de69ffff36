package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/best/packing"
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/room"
)

// mostPairs limits how often filters are asked about two members on a node. Beyond it the problem leaves these
// conflicts out; whether the answer keeps them is asked in the end.
const mostPairs = 1 << 20

// findKinds says which members may stand for each other, and what rules besides room say about them on each node of
// the domain. The current placement is that without all units that may yield.
func (x *exact) findKinds(d room.Domain) {
	x.kinds = x.kinds[:0]
	places := make([][]packing.Place, len(x.Members))
	for m := range x.Members {
		if member := &x.Members[m]; !member.NamesAll() || len(x.Request.Rules.Filters) > 0 {
			places[m] = x.placesOf(d, member)
		}
	}
	apart := x.apart(d)
	alike := func(a, b int) bool {
		if !slices.Equal(x.Members[a].Needs, x.Members[b].Needs) || !slices.EqualFunc(places[a], places[b], equalPlaces) {
			return false
		}
		for c := range x.Members {
			if apart != nil && c != a && c != b && !slices.Equal(apart(a, c), apart(b, c)) {
				return false
			}
		}
		return true
	}
	for m := range x.Members {
		k := slices.IndexFunc(x.kinds, func(members []int) bool { return alike(members[0], m) })
		if k < 0 {
			k, x.kinds = len(x.kinds), append(x.kinds, nil)
		}
		x.kinds[k] = append(x.kinds[k], m)
	}
	for k, members := range x.kinds {
		kind := packing.Kind{Count: len(members), Needs: x.Members[members[0]].Needs, At: places[members[0]]}
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
					here := &kind.At[node]
					if here.Apart == nil {
						here.Apart = make([]bool, len(x.kinds))
					}
					here.Apart[other] = true
				}
			}
		}
		x.problem.Kinds = append(x.problem.Kinds, kind)
	}
}

func equalPlaces(a, b packing.Place) bool {
	return a.Barred == b.Barred && slices.Equal(a.Removes, b.Removes)
}

// placesOf says on which nodes a member may be placed, and which units must yield for it.
func (x *exact) placesOf(d room.Domain, m *place.Member) []packing.Place {
	list := make([]packing.Place, d.Size())
	for i := d.From; i < d.To; i++ {
		here, n, filters := &list[i-d.From], x.Nodes[i], len(x.Request.Rules.Filters) > 0
		if here.Barred = !m.Names(n) || filters && !x.FiltersPlace(d, m, i); here.Barred || !filters {
			continue
		}
		pending := x.AsPlaced(m, i)
		for _, p := range n.Pods {
			if u := x.UnitOf(p); u != nil {
				if n, yields := x.number[u]; yields && x.Conflict(pending, p.Facts) && !slices.Contains(here.Removes, n) {
					here.Removes = append(here.Removes, n)
				}
			}
		}
	}
	return list
}

// apart returns a function that says on which nodes two members may not be together; nil: no rule says so. Members
// are placed in order: the later one is asked about the earlier.
func (x *exact) apart(d room.Domain) func(a, b int) []bool {
	many := len(x.Members)
	if len(x.Request.Rules.Filters) == 0 || many*many*d.Size() > mostPairs {
		return nil
	}
	list := make([][]bool, many*many)
	for b := range many {
		for a := range b {
			on := make([]bool, d.Size())
			for i := d.From; i < d.To; i++ {
				on[i-d.From] = x.Conflict(x.AsPlaced(&x.Members[b], i), x.AsPlaced(&x.Members[a], i))
			}
			list[a*many+b], list[b*many+a] = on, on
		}
	}
	return func(a, b int) []bool { return list[a*many+b] }
}
