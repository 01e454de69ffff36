package rules

import (
	"slices"

	"github.com/cedesched/cede/workload"
)

// index finds the selectors of a tier that may accept a workload, by a label or a priority class
// that they ask for. Most selectors of many ask for one, and most workloads do not have it. It is
// immutable.
type index struct {
	rules   []*compiled // with the trigger
	entries []entry
	byLabel map[label][]int32
	byClass map[string][]int32
	rest    []int32 // that ask for neither
}

type label struct{ key, value string }

// entry is a selector of a tier.
type entry struct {
	Match
	*selector
	rule int // its number in index.rules
}

func newIndex(list []compiled, trigger Trigger) *index {
	x := &index{byLabel: map[label][]int32{}, byClass: map[string][]int32{}}
	for i := range list {
		r := &list[i]
		if r.trigger != trigger {
			continue
		}
		for j := range r.selectors {
			x.add(entry{Match{r.index, j}, &r.selectors[j], len(x.rules)})
		}
		x.rules = append(x.rules, r)
	}
	return x
}

func (x *index) add(e entry) {
	n := int32(len(x.entries))
	x.entries = append(x.entries, e)
	asked := asksFor(e.labels)
	switch {
	case len(asked) > 0:
		for _, l := range asked {
			x.byLabel[l] = append(x.byLabel[l], n)
		}
	case len(e.classes.match) > 0:
		for i, name := range e.classes.match {
			if i == 0 || e.classes.match[i-1] != name {
				x.byClass[name] = append(x.byClass[name], n)
			}
		}
	default:
		x.rest = append(x.rest, n)
	}
}

// asksFor returns labels of which a selector accepts nobody who has none of them; none if it asks
// for no label.
func asksFor(s *workload.LabelSelector) (list []label) {
	if s == nil {
		return nil
	}
	first := ""
	for key := range s.MatchLabels {
		if first == "" || key < first {
			first = key
		}
	}
	if len(s.MatchLabels) > 0 {
		return []label{{first, s.MatchLabels[first]}}
	}
	for _, r := range s.MatchExpressions {
		if r.Operator == workload.In && len(r.Values) > 0 {
			for _, value := range r.Values {
				if l := (label{r.Key, value}); !slices.Contains(list, l) {
					list = append(list, l)
				}
			}
			return list
		}
	}
	return nil
}

// may calls yield with the selectors that may accept a workload, until yield returns true.
func (x *index) may(w *workload.Workload, yield func(*entry) bool) bool {
	each := func(list []int32) bool {
		for _, n := range list {
			if yield(&x.entries[n]) {
				return true
			}
		}
		return false
	}
	if each(x.rest) || len(x.byClass) > 0 && each(x.byClass[w.PriorityClass]) {
		return true
	}
	if len(x.byLabel) > 0 {
		for key, value := range w.Labels {
			if each(x.byLabel[label{key, value}]) {
				return true
			}
		}
	}
	return false
}
