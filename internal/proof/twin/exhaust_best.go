package twin

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/cedesched/cede/quota"
)

// note keeps a set if the request fits without it and it is the best so far.
func (x *exhaustion) note(set int, borrowing bool) {
	if !x.fitsWithout(set, borrowing) {
		return
	}
	x.answer.Allowed++
	chosen, values := x.valuesOf(set)
	better := x.best == nil
	if !better {
		better = cmp.Or(x.compare(values, x.values), x.compareFirst(chosen, x.best)) < 0
	}
	if better {
		x.best, x.values = chosen, values
	}
}

// valuesOf returns a set as candidates, and its values.
func (x *exhaustion) valuesOf(set int) (chosen []candidate, values [5]int64) {
	for c := range x.all {
		if set>>c&1 == 0 {
			continue
		}
		of := x.all[c]
		if !slices.ContainsFunc(chosen, func(o candidate) bool { return idOf(o.w.ID) == idOf(of.w.ID) }) {
			values[1]++
		}
		chosen = append(chosen, of)
		name := ""
		switch {
		case of.podSet >= 0:
			name = of.w.PodSets[of.podSet].Name
			values[3]++
		case leaves(of.w.ID):
			values[4]++
		default:
			values[2]++
		}
		if x.cost != nil && !leaves(of.w.ID) {
			values[0] = quota.Add(values[0], x.cost(of.w.ID, name))
		}
	}
	return chosen, values
}

// compareFirst orders sets by the first candidate in which they differ.
func (x *exhaustion) compareFirst(a, b []candidate) int {
	return slices.Compare(x.placesOf(a), x.placesOf(b))
}

func (x *exhaustion) placesOf(list []candidate) (places []int) {
	used := 0
	for _, c := range list {
		for i := range x.all {
			if used>>i&1 == 0 && x.all[i].w.ID == c.w.ID && x.all[i].podSet == c.podSet {
				places, used = append(places, i), used|1<<i
				break
			}
		}
	}
	slices.Sort(places)
	return places[:bits.OnesCount(uint(used))]
}
