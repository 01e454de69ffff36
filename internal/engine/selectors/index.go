package selectors

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// index finds the selectors of a tier that may accept a workload, by a trait that they ask for. Most
// selectors of many ask for one, and most workloads do not have it. It is immutable.
type index struct {
	rules   []*compiled // with the trigger
	entries []entry
	asking  []asking // rising
	rest    []int32  // indexes of entries that ask for no trait
}

// asking is an entry that accepts only workloads with one of some traits, and one of these traits.
type asking struct{ trait, entry int32 }

// entry is a selector of a tier.
type entry struct {
	rules.Match
	*selector
	rule int // its number in index.rules
}

// newIndex makes the index of a tier. It gives traits that have no number yet the next one.
func newIndex(list []compiled, trigger rules.Trigger, traits map[Trait]int32) *index {
	x := &index{}
	for i := range list {
		r := &list[i]
		if r.trigger != trigger {
			continue
		}
		for j := range r.selectors {
			n := int32(len(x.entries))
			x.entries = append(x.entries, entry{rules.Match{Rule: r.index, Selector: j}, &r.selectors[j], len(x.rules)})
			asked := r.selectors[j].asksFor()
			for _, t := range asked {
				number, known := traits[t]
				if !known {
					number = int32(len(traits))
					traits[t] = number
				}
				x.asking = append(x.asking, asking{number, n})
			}
			if len(asked) == 0 {
				x.rest = append(x.rest, n)
			}
		}
		x.rules = append(x.rules, r)
	}
	heap.Sort(x.asking, func(a, b *asking) bool { return a.trait < b.trait || a.trait == b.trait && a.entry < b.entry })
	return x
}

// asksFor returns traits of which the selector accepts only workloads with one; none if it asks
// for no trait.
func (s *selector) asksFor() []Trait {
	for list := range LabelsAsked(s.LabelSelector) {
		return list
	}
	var list []Trait
	for _, name := range slices.Compact(slices.Clone(s.classes.match)) {
		list = append(list, Trait{Value: name})
	}
	return list
}

// from returns the entries that ask for a trait, or for a later one.
func (x *index) from(trait int32) []asking {
	i, _ := slices.BinarySearchFunc(x.asking, trait, func(a asking, trait int32) int { return cmp.Compare(a.trait, trait) })
	return x.asking[i:]
}

// may calls yield with the selectors that may accept a workload, until yield returns true.
func (x *index) may(w *workload.Workload, traits map[Trait]int32, yield func(*entry) bool) bool {
	for _, n := range x.rest {
		if yield(&x.entries[n]) {
			return true
		}
	}
	if len(x.asking) == 0 {
		return false
	}
	with := func(t Trait) bool {
		number, known := traits[t]
		if !known {
			return false
		}
		for _, a := range x.from(number) {
			if a.trait != number {
				break
			}
			if yield(&x.entries[a.entry]) {
				return true
			}
		}
		return false
	}
	if with(Trait{Value: w.PriorityClass}) {
		return true
	}
	for key, value := range w.Labels {
		if with(Trait{key, value}) {
			return true
		}
	}
	return false
}
