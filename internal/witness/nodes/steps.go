package nodes

import (
	"slices"
	"sort"

	"github.com/cedesched/cede/preemption/placement"
)

// KEP-5710, Preemption algorithm: one domain.

// choice is a way to make room in a domain.
type choice struct {
	domain  domain
	seats   []seat
	victims []*unit // the most important first
}

// goneAlready lists the pods that are gone before anyone is asked to yield: "Terminating pods that are waited for". In
// [placement.ModeInPlace] "terminating pods count as running".
func goneAlready(w *World) []*pod {
	if w.config.Mode == placement.ModeInPlace {
		return nil
	}
	return w.leaving()
}

// candidates: "Identify the list of all potential victims in that domain", sorted "to reflect their importance".
func candidates(w *World, d domain) (list []*unit) {
	for _, u := range w.units() {
		if w.mayYield(u) && u.in(d) {
			list = append(list, u)
		}
	}
	return list
}

// solve makes room in a domain by potential victims, if it can; of those that are charged to the budgets some may violate one. It also
// says how many pods have a place without all of the potential victims.
func solve(w *World, d domain, list, charged []*unit) (c *choice, placeable int) {
	s := w.scene(goneAlready(w))
	for _, u := range list {
		s.remove(u.pods)
	}
	s.place(d)
	if len(list) == 0 || !s.enough() {
		return nil, len(s.placed) // "the preemptor is unschedulable with preemption in domain D"
	}
	placeable = len(s.placed)
	charge(w, charged)
	list = s.reprieve(list, func(u *unit) bool { return u.violations > 0 })
	if w.config.Mode == placement.ModeDesign && !importanceDecides(w, d) {
		list = s.search(d, list)
	}
	list = s.reprieve(list, func(*unit) bool { return true })
	return &choice{domain: d, seats: s.placed, victims: list}, placeable
}

// charged lists the units that are charged to the budgets: the potential victims of the domain, in
// [placement.ModeInPlace] "all units of lower priority, wherever they run".
func (w *World) charged(list []*unit) []*unit {
	if w.config.Mode == placement.ModeDesign || single(w) {
		return list
	}
	all := slices.DeleteFunc(w.units(), func(u *unit) bool { return !w.mayYield(u) })
	for i, u := range all {
		if j := slices.IndexFunc(list, func(v *unit) bool { return v.pods[0] == u.pods[0] }); j >= 0 {
			all[i] = list[j]
		}
	}
	return all
}

// reprieve: "checking if they can be placed where they are currently running. If so assume it back and remove from
// potential victims list." Each whole, the most important first.
func (s *scene) reprieve(list []*unit, which func(*unit) bool) (left []*unit) {
	for _, u := range list {
		if which(u) {
			s.putBack(u.pods)
			if s.keeps() {
				continue
			}
			s.remove(u.pods)
		}
		left = append(left, u)
	}
	return left
}

// search: "For the remaining potential victims, using binary search across priorities (not across the list of victims)
// find the minimal priority N for which scheduling the preemptor can be achieved without preempting any victims with
// priority higher than N." "Eliminate all victims from the potential victims list that have priority higher than N."
// "Schedule and assume the preemptor." "If that placement holds fewer pods than MinCount, use the first placement."
func (s *scene) search(d domain, list []*unit) []*unit {
	first := s.placed
	levels := priorities(list) // N is one of them; index 0 of the search is below all
	low := sort.Search(len(levels), func(n int) bool { return s.placesUpTo(d, list, levels, n) })
	if !s.placesUpTo(d, list, levels, low) {
		s.placesUpTo(d, list, levels, len(levels))
		s.placed = first
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(u *unit) bool { return !upTo(u, levels, low) })
}

// placesUpTo puts the units above a level in place, removes the others, and places the preemptor again.
func (s *scene) placesUpTo(d domain, list []*unit, levels []int32, n int) bool {
	for _, u := range list {
		if upTo(u, levels, n) {
			s.remove(u.pods)
		} else {
			s.putBack(u.pods)
		}
	}
	s.placed = nil
	s.place(d)
	return s.enough()
}

// importanceDecides: "For one pod on one node this step is skipped with Config.Importance, too, so that importance decides in place
// of priority."
func importanceDecides(w *World, d domain) bool {
	return w.config.Importance != nil && len(w.pods) == 1 && len(d.nodes) == 1
}

func upTo(u *unit, levels []int32, n int) bool { return n > 0 && u.priority() <= levels[n-1] }

// priorities are those of the units, rising.
func priorities(list []*unit) (levels []int32) {
	for _, u := range list {
		levels = append(levels, u.priority())
	}
	slices.Sort(levels)
	return slices.Compact(levels)
}
