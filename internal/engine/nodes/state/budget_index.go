package state

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/workload"
)

// budgetIndexes are the indexes of budgets by namespace. Nil has no budget.
type budgetIndexes map[string]*budgetIndex

// budgetIndex finds the budgets of a namespace that may cover a pod: a budget is asked about the pods that have one
// of the labels that its selector asks for. It is immutable.
type budgetIndex struct {
	asking map[selectors.Trait][]int32 // slots by label
	rest   []int32                     // slots of budgets that ask for no label
}

// with returns the indexes with the stale budgets as they are in their slots. It has an index of each namespace with
// stale budgets, if only an empty one.
func (indexes budgetIndexes) with(budgets []Budget, stale []staleBudget) budgetIndexes {
	isStale, next := make([]bool, len(budgets)), make(budgetIndexes, len(indexes)+1)
	for _, b := range stale {
		isStale[b.slot], next[b.namespace] = true, &budgetIndex{asking: map[selectors.Trait][]int32{}}
	}
	for namespace, x := range indexes {
		if _, changes := next[namespace]; changes {
			x = x.without(isStale)
		}
		if len(x.asking)+len(x.rest) > 0 {
			next[namespace] = x
		}
	}
	for _, b := range stale {
		if !isStale[b.slot] || budgets[b.slot].free {
			continue
		}
		isStale[b.slot] = false
		next[b.namespace].add(b.slot, budgets[b.slot].Facts.Selector)
	}
	return next
}

// without returns a copy without some slots.
func (x *budgetIndex) without(gone []bool) *budgetIndex {
	isGone := func(slot int32) bool { return gone[slot] }
	left := func(slots []int32) []int32 {
		if slices.ContainsFunc(slots, isGone) {
			return slices.DeleteFunc(slices.Clone(slots), isGone)
		}
		return slices.Clip(slots)
	}
	next := &budgetIndex{maps.Clone(x.asking), left(x.rest)}
	for label, slots := range x.asking {
		if next.asking[label] = left(slots); len(next.asking[label]) == 0 {
			delete(next.asking, label)
		}
	}
	return next
}

// add adds a budget by the list of labels with the fewest budgets so far.
func (x *budgetIndex) add(slot int32, s *workload.LabelSelector) {
	var best []selectors.Trait
	least := 0
	for list := range selectors.LabelsAsked(s) {
		others := 0
		for _, label := range list {
			others += len(x.asking[label])
		}
		if best == nil || others < least {
			best, least = list, others
		}
	}
	for _, label := range best {
		x.asking[label] = append(x.asking[label], slot)
	}
	if best == nil && s != nil { // nil selects nothing
		x.rest = append(x.rest, slot)
	}
}

// covering appends the slots of the budgets that cover a pod to list, in no order.
func (indexes budgetIndexes) covering(budgets []Budget, list []int32, p *workload.Pod) []int32 {
	x := indexes[p.Namespace]
	if x == nil {
		return list
	}
	ask := func(slots []int32) {
		for _, slot := range slots {
			if budgets[slot].Facts.Covers(p) {
				list = append(list, slot)
			}
		}
	}
	ask(x.rest)
	if len(x.asking) > 0 {
		for key, value := range p.Labels {
			ask(x.asking[selectors.Trait{Key: key, Value: value}])
		}
	}
	return list
}

// covering appends the slots of the budgets that cover a pod to list, which is empty, in the order of the budgets.
func (c *Cluster) covering(list []int32, p *workload.Pod) []int32 {
	if list = c.asked.covering(c.Budgets, list, p); len(list) > 1 {
		slices.SortFunc(list, func(a, b int32) int { return keyOf(&c.Budgets[a].Facts).compare(keyOf(&c.Budgets[b].Facts)) })
	}
	return list
}
