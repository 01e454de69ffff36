package nodes

import (
	"slices"
	"sort"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// inDomain is what the steps find in a domain.
type inDomain struct {
	placement.Domain
	// first is the number of members that have a place without all units that may yield.
	first   int
	placed  []workload.Pod
	victims []Unit
	reason  placement.Reason
}

// steps makes steps 1 to 7 in a domain, with hard budgets twice: if the victims under soft budgets violate one, once more
// with the units in place that the budgets do not allow.
func (w *World) steps(d placement.Domain) inDomain {
	defer w.only(Everyone)
	found := w.stepsWithout(d, nil)
	if w.Config.Budgets == placement.Soft || found.reason != 0 {
		return found
	}
	if len(w.OverBudget(found.victims)) > 0 {
		first := found.first
		if found = w.stepsWithout(d, w.rationed(d.Nodes)); found.reason != 0 {
			found.reason = placement.ReasonBudgets
		}
		found.first = first
	}
	for i := range found.victims {
		found.victims[i].Violations = 0
	}
	return found
}

// stepsWithout makes the steps without the units in barred, which stay.
func (w *World) stepsWithout(d placement.Domain, barred []Unit) inDomain {
	found := inDomain{Domain: d}
	w.only(w.Stays)
	potential := w.Potential(d.Nodes)
	if len(potential) == 0 {
		found.first, found.reason = len(w.place(d.Nodes, nil)), placement.ReasonNoVictims
		return found
	}
	potential = slices.DeleteFunc(potential, func(u Unit) bool {
		return slices.ContainsFunc(barred, func(b Unit) bool { return b.Pods[0].ID == u.Pods[0].ID })
	})
	w.setAll(potential, false)
	found.placed = w.place(d.Nodes, nil)
	if found.first = len(found.placed); found.first < w.need() {
		found.reason = placement.ReasonNoRoom
		return found
	}
	violates := func(u Unit) bool { return u.Violations > 0 && barred == nil }
	rest := w.putBack(potential, found.placed, violates)
	byImportance := w.Config.Importance != nil && len(w.Members) == 1 && len(d.Nodes) == 1
	if w.Config.Mode == placement.ModeDesign && !byImportance {
		rest, found.placed = w.lowest(d.Nodes, rest, found.placed)
	}
	found.victims = w.putBack(rest, found.placed, func(Unit) bool { return true })
	return found
}

// putBack puts units back where they run, in their order, if they are to be and the placed members keep their room. It
// returns the others.
func (w *World) putBack(units []Unit, placed []workload.Pod, toBe func(Unit) bool) (gone []Unit) {
	defer w.unplace(0)
	w.put(placed...)
	for _, u := range units {
		if !toBe(u) {
			gone = append(gone, u)
			continue
		}
		if w.setAll([]Unit{u}, true); !w.stands() {
			w.setAll([]Unit{u}, false)
			gone = append(gone, u)
		}
	}
	return gone
}

// lowest makes steps 5 and 6: with the units above the lowest priority in place, it returns the rest and the placement
// beside them.
func (w *World) lowest(nodes []string, rest []Unit, first []workload.Pod) (below []Unit, placed []workload.Pod) {
	var levels []int32
	for _, u := range rest {
		levels = append(levels, u.Priority)
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	// above brings the units above a level, or all of them, and drops the others.
	above := func(i int) (below []Unit) {
		for _, u := range rest {
			stays := i == 0 || u.Priority > levels[i-1]
			if w.setAll([]Unit{u}, stays); !stays {
				below = append(below, u)
			}
		}
		return below
	}
	at := sort.Search(len(levels), func(i int) bool {
		above(i)
		return len(w.place(nodes, nil)) >= w.need()
	})
	below = above(at)
	if placed = w.place(nodes, nil); len(placed) >= w.need() {
		return below, placed
	}
	w.setAll(rest, false)
	return rest, first
}

// rationed lists the units that must stay for the budgets, if the least important units use the allowances first.
func (w *World) rationed(nodes []string) []Unit {
	barred, left := []Unit{}, w.allowances()
	for _, u := range slices.Backward(w.Potential(nodes)) {
		after, over := slices.Clone(left), false
		for _, p := range u.Pods {
			for _, b := range w.covering(p) {
				after[b]--
				over = over || after[b] < 0
			}
		}
		if over {
			barred = append(barred, u)
		} else {
			left = after
		}
	}
	return barred
}
