package nodes

import (
	"github.com/cedesched/cede/preemption/placement"
)

// The limits up to which all answers are tried.
const (
	mostUnits   = 12
	mostMembers = 6
	mostNodes   = 6
)

// Best tries every set of units with every way to place the members, in the domains that are small, and returns the best
// score of an allowed answer; ok is false if it finds none. Set filters and placers are not asked.
func (w *World) Best() (best placement.Score, ok bool) {
	defer w.only(Everyone)
	if w.HasTrials() || len(w.Members) > mostMembers {
		return best, false
	}
	for _, d := range w.DomainsOfVictims() {
		potential := w.Potential(d.Nodes)
		if ok && w.isLast(d) || len(potential) == 0 || len(potential) > mostUnits || len(d.Nodes) > mostNodes {
			continue
		}
		least, known := w.least(d.Nodes, potential)
		if !known || w.Request.Group == "" && w.Request.SkipFit && w.makeRoom(d.Nodes, nil, least) {
			continue // where no unit has to yield for a single pod, preemption does not help
		}
		for set := range 1 << len(potential) {
			var units []Unit
			for i, u := range potential {
				if set>>i&1 == 1 {
					units = append(units, u)
				}
			}
			score := w.Score(units)
			if ok && Better(score, best) >= 0 || w.Config.Budgets == placement.Hard && len(w.OverBudget(units)) > 0 {
				continue
			}
			if w.makeRoom(d.Nodes, units, least) {
				best, ok = score, true
			}
		}
	}
	return best, ok
}

// least returns how many members must have a place: in the design as many as must, as built also as many as have one
// in order without all units that may yield. With hard budgets this number is known only if all members must have a
// place.
func (w *World) least(nodes []string, potential []Unit) (count int, known bool) {
	if w.Config.Mode == placement.ModeDesign || w.need() == len(w.Members) {
		return w.need(), true
	}
	w.only(w.Stays)
	w.setAll(potential, false)
	return max(w.need(), len(w.place(nodes, nil))), w.Config.Budgets == placement.Soft
}

// makeRoom reports whether so many members have places on the nodes without the units.
func (w *World) makeRoom(nodes []string, units []Unit, least int) bool {
	w.only(w.Stays)
	w.setAll(units, false)
	return w.placeFrom(nodes, 0, least)
}

// placeFrom tries all places of the members from one on. It leaves none of these placed.
func (w *World) placeFrom(nodes []string, from, least int) bool {
	placed := len(w.placed)
	if placed >= least && len(w.Lacking(w.placed, nodes)) == 0 {
		return true
	}
	if placed+len(w.Members)-from < least || from == len(w.Members) {
		return false
	}
	m := w.Members[from]
	for _, m.Node = range nodes {
		if !w.mayRun(m) {
			continue
		}
		w.put(m)
		found := w.placeFrom(nodes, from+1, least)
		if w.unplace(placed); found {
			return true
		}
	}
	return w.placeFrom(nodes, from+1, least)
}
