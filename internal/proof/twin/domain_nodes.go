package twin

import (
	"cmp"
	"slices"
	"sort"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// inDomain makes steps 1 to 7 in the comment of package placement. enough is the number of
// members that have a place without all units that may yield.
func (q *nodes) inDomain(domain []workload.Node, present there, barred []unit) (enough int, placed []workload.Pod, victims []unit, why placement.Reason) {
	in := func(u unit) bool {
		return slices.ContainsFunc(u.Pods, func(p workload.Pod) bool {
			return slices.ContainsFunc(domain, func(n workload.Node) bool { return n.Name == p.Node })
		})
	}
	potential := slices.DeleteFunc(q.units(present), func(u unit) bool { return !in(u) })
	if len(potential) == 0 {
		return len(q.place(domain, present)), nil, nil, placement.ReasonNoVictims
	}
	potential = slices.DeleteFunc(potential, func(u unit) bool {
		return slices.ContainsFunc(barred, func(b unit) bool { return b.Pods[0].ID == u.Pods[0].ID })
	})
	kept := present.with()
	for _, u := range potential {
		for _, p := range u.Pods {
			delete(kept, p.ID)
		}
	}
	first := q.place(domain, kept)
	if len(first) < max(1, q.r.MinCount) {
		return len(first), first, nil, placement.ReasonNoRoom
	}
	if barred == nil {
		left := q.allowances()
		for i := range potential {
			for _, p := range potential[i].Pods {
				over := 0
				for _, b := range q.covering(p) {
					if left[b]--; left[b] < 0 {
						over = 1
						if q.stopsAtFirst() {
							break
						}
					}
				}
				potential[i].violations += over
			}
		}
	}
	violatingFirst := slices.Clone(potential)
	slices.SortStableFunc(violatingFirst, func(a, b unit) int { return -cmp.Compare(min(1, a.violations), min(1, b.violations)) })
	if q.config.Mode == placement.ModeReplace {
		placed = first
		for _, u := range violatingFirst {
			if again := q.place(domain, kept.with(u.Pods...)); len(again) >= len(placed) {
				placed, kept = again, kept.with(u.Pods...)
			} else {
				victims = append(victims, u)
			}
		}
		return len(first), placed, victims, 0
	}
	var rest []unit
	for _, u := range violatingFirst {
		if more := kept.with(u.Pods...); u.violations > 0 && q.stands(more, first) {
			kept = more
		} else {
			rest = append(rest, u)
		}
	}
	placed = first
	if q.config.Mode == placement.ModeDesign {
		kept, rest, placed = q.lowest(domain, kept, rest, first)
	}
	slices.SortFunc(rest, q.moreImportant)
	for _, u := range rest {
		if more := kept.with(u.Pods...); q.stands(more, placed) {
			kept = more
		} else {
			victims = append(victims, u)
		}
	}
	return len(first), placed, victims, 0
}

// stopsAtFirst reports whether a pod is charged to its budgets only up to the first one that it violates.
func (q *nodes) stopsAtFirst() bool {
	return q.config.Charge == placement.ChargeToFirstViolated || q.config.Charge == placement.ChargeByMode && q.config.Mode == placement.ModeInPlace
}

// lowest makes the binary search over priorities.
func (q *nodes) lowest(domain []workload.Node, kept there, rest []unit, first []workload.Pod) (there, []unit, []workload.Pod) {
	var levels []int32
	for _, u := range rest {
		levels = append(levels, u.Priority)
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	above := func(i int) (there, []unit) {
		present, below := kept, []unit(nil)
		for _, u := range rest {
			if i == 0 || u.Priority > levels[i-1] {
				present = present.with(u.Pods...)
			} else {
				below = append(below, u)
			}
		}
		return present, below
	}
	i := sort.Search(len(levels), func(i int) bool {
		present, _ := above(i)
		return len(q.place(domain, present)) >= max(1, q.r.MinCount)
	})
	present, below := above(i)
	if placed := q.place(domain, present); len(placed) >= max(1, q.r.MinCount) {
		return present, below, placed
	}
	return kept, rest, first
}

// rationed lists the units that must stay for the budgets, if the least important units use
// the allowances first.
func (q *nodes) rationed(domain []workload.Node, present there) []unit {
	barred := []unit{}
	left := q.allowances()
	for _, u := range slices.Backward(q.units(present)) {
		if !slices.ContainsFunc(u.Pods, func(p workload.Pod) bool {
			return slices.ContainsFunc(domain, func(n workload.Node) bool { return n.Name == p.Node })
		}) {
			continue
		}
		after := slices.Clone(left)
		covered := false
		for _, p := range u.Pods {
			for _, b := range q.covering(p) {
				after[b]--
				covered = covered || after[b] < 0
			}
		}
		if covered {
			barred = append(barred, u)
		} else {
			left = after
		}
	}
	return barred
}
