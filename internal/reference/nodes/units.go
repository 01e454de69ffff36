package nodes

import (
	"cmp"
	"math"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// units are the rules about what yields together, may yield, and is charged to budgets.
type units struct{ room }

// Unit is what is evicted together: a pod, or all running pods of a group and of the groups below it.
type Unit struct {
	placement.Unit
	// Violations is the number of its pods that are evicted against a budget if all more important units are evicted, too.
	Violations int
}

// IDs lists the pods of the unit, sorted.
func (u Unit) IDs() (list []string) {
	for _, p := range u.Pods {
		list = append(list, p.ID)
	}
	slices.Sort(list)
	return list
}

// In reports whether a pod of the unit runs on one of the nodes.
func (u Unit) In(nodes []string) bool {
	return slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return slices.Contains(nodes, p.Node) })
}

// earliest returns the earliest start of a pod of the unit, in nanoseconds; an unknown start is later than all.
func (u Unit) earliest() int64 {
	first := int64(math.MaxInt64)
	for _, p := range u.Pods {
		if !p.Started.IsZero() {
			first = min(first, p.Started.UnixNano())
		}
	}
	return first
}

// Units lists the units that run, the most important first. In the design pods that were told to stop are in none.
func (w *units) Units() []Unit {
	return w.unitsOf(func(p workload.Pod) bool { return w.Config.Mode != placement.ModeDesign || !p.Terminating })
}

// unitsOf lists the units of the running pods for which is holds.
func (w *units) unitsOf(is func(workload.Pod) bool) (list []Unit) {
	for _, p := range w.State.Pods {
		if !is(p) {
			continue
		}
		u := Unit{Unit: placement.Unit{Group: w.yieldsWith(p), Priority: w.priorityOf(p), Pods: []workload.Pod{p}}}
		if at := slices.IndexFunc(list, func(o Unit) bool { return u.Group != "" && o.Group == u.Group }); at >= 0 {
			list[at].Pods = append(list[at].Pods, p)
		} else {
			list = append(list, u)
		}
	}
	for _, u := range list {
		slices.SortFunc(u.Pods, func(a, b workload.Pod) int { return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID)) })
	}
	slices.SortFunc(list, w.moreImportant)
	return list
}

// moreImportant is step 3.
func (w *units) moreImportant(a, b Unit) int {
	if w.Config.Importance != nil {
		if order := w.Config.Importance(a.Unit, b.Unit); order != 0 {
			return order
		}
	}
	kind := func(u Unit) int {
		switch {
		case u.Group != "" && slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return p.Group != u.Group }):
			return 2 // a group of groups
		case u.Pods[0].Group != "":
			return 1 // a group, or a pod of one
		}
		return 0
	}
	surplus := func(u Unit) int {
		if slices.ContainsFunc(u.Pods, w.isSurplus) {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(b.Priority, a.Priority), cmp.Compare(kind(b), kind(a)), cmp.Compare(len(b.Pods), len(a.Pods)),
		cmp.Compare(a.earliest(), b.earliest()), cmp.Compare(surplus(a), surplus(b)),
		cmp.Compare(a.Pods[0].UID, b.Pods[0].UID), cmp.Compare(a.Pods[0].ID, b.Pods[0].ID),
	)
}

// isSurplus reports whether a pod runs over the minimum of its group: so many others that run and do not terminate come
// before it by ID. A group without a minimum, or that yields whole, by itself or with a group above it, has no surplus.
func (w *units) isSurplus(p workload.Pod) bool {
	groups := w.around(p)
	if len(groups) == 0 || groups[0].MinCount == 0 || p.Terminating || w.yieldsWith(p) != "" {
		return false
	}
	g, before := groups[0], 0
	for _, o := range w.State.Pods {
		if o.Group == g.ID && !o.Terminating && o.ID < p.ID {
			before++
		}
	}
	return before >= g.MinCount
}

// Potential is step 1, with the charge of step 4: the units that may yield and have a pod on one of the nodes, the most
// important first.
func (w *units) Potential(nodes []string) []Unit {
	list := slices.DeleteFunc(w.Units(), func(u Unit) bool { return w.KeptBy(u).Rule != 0 })
	elsewhere := func(u Unit) bool { return !u.In(nodes) }
	if !w.placesOnce() {
		list = slices.DeleteFunc(list, elsewhere)
	}
	left := w.allowances()
	for i := range list {
		for _, p := range list[i].Pods {
			over := 0
			for _, b := range w.covering(p) {
				if left[b]--; left[b] < 0 {
					over = 1
					if w.stopsAtFirst() {
						break
					}
				}
			}
			list[i].Violations += over
		}
	}
	return slices.DeleteFunc(list, elsewhere)
}

// placesOnce reports whether a group is placed once, in the first domain with room, and all units of the cluster are charged
// to the budgets, as built in v1.37.
func (w *units) placesOnce() bool {
	return w.Config.Mode == placement.ModeInPlace && w.Request.Group != ""
}

// stopsAtFirst reports whether a pod is charged to its budgets only up to the first budget that it violates.
func (w *units) stopsAtFirst() bool {
	byMode := w.Config.Charge == placement.ChargeByMode && w.Config.Mode == placement.ModeInPlace
	return byMode || w.Config.Charge == placement.ChargeToFirstViolated
}

// covering lists the budgets that a pod is charged to, by name.
func (w *units) covering(p workload.Pod) (list []int) {
	for i, b := range w.State.Budgets {
		if b.Covers(&p) && !slices.Contains(b.Disrupted, p.ID) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(i, k int) int { return cmp.Compare(w.State.Budgets[i].Name, w.State.Budgets[k].Name) })
	return list
}

func (w *units) allowances() (list []int64) {
	for _, b := range w.State.Budgets {
		list = append(list, b.Allowed)
	}
	return list
}

// Over is a budget that covers more pods of some units than it allows to evict.
type Over struct {
	Budget        string
	Pods, Allowed int64
}

// OverBudget lists the budgets that do not allow that all these units are evicted.
func (w *units) OverBudget(units []Unit) (list []Over) {
	charged := make([]int64, len(w.State.Budgets))
	for _, u := range units {
		for _, p := range u.Pods {
			for _, b := range w.covering(p) {
				charged[b]++
			}
		}
	}
	for i, b := range w.State.Budgets {
		if charged[i] > b.Allowed {
			list = append(list, Over{b.Name, charged[i], b.Allowed})
		}
	}
	return list
}
