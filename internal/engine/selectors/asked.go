package selectors

import (
	"iter"
	"maps"
	"slices"

	"github.com/cedesched/cede/workload"
)

// Trait is a label of a running workload or pod, or the priority class of a workload: then Key is empty. The zero
// value is that it has no priority class.
type Trait struct{ Key, Value string }

// LabelsAsked yields lists of labels with one key each: a selector accepts only what has one label of each list.
// They are the entries of MatchLabels, by key, then the expressions with In.
func LabelsAsked(s *workload.LabelSelector) iter.Seq[[]Trait] {
	return func(yield func([]Trait) bool) {
		if s == nil {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
			if !yield([]Trait{{key, s.MatchLabels[key]}}) {
				return
			}
		}
		for _, r := range s.MatchExpressions {
			if r.Operator != workload.In || len(r.Values) == 0 {
				continue
			}
			var list []Trait
			for _, value := range slices.Compact(slices.Sorted(slices.Values(r.Values))) {
				list = append(list, Trait{r.Key, value})
			}
			if !yield(list) {
				return
			}
		}
	}
}
