package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/trace"
)

// run searches a domain. The members and victims are then where b.Where and s.victims say. With rationed, units stay
// so that no budget is violated.
func (s *steps) run(d room.Domain, rationed bool) trace.Found {
	s.Forget()
	s.victims = s.victims[:0]
	if !s.keepProtected(d) {
		if !s.Request.IsAlone() || s.Request.SkipFit { // else it is known that the pod has no room
			s.placeable = max(s.placeable, s.CountBeside(d))
		}
		return trace.NoVictims
	}
	if rationed && !s.ration(d) {
		return trace.NoVictims
	}
	s.Open(s.Highest(), false)
	placed := s.Place(d)
	s.placeable, s.enough = max(s.placeable, placed), placed
	if s.Config.Mode == ask.Design {
		s.enough = s.AtLeast
	}
	s.notePlaced(placed)
	if placed < s.AtLeast {
		return trace.NoRoom
	}
	var over []*state.Unit
	if rationed { // the units that may still yield are within the allowances
		s.ClearViolations()
	} else {
		over = s.overBudget(d)
	}
	s.victims = s.reprieve(s.victims[:0], d, over, true)
	if s.Config.Mode == ask.Design && !s.skipsLower(d) {
		s.lower(d)
	}
	s.victims = s.reprieve(s.victims[:0], d, s.around(d), false)
	return trace.Victims
}

// keepProtected makes the units stay that a rule protects, and reports whether a unit may yield.
func (s *steps) keepProtected(d room.Domain) (mayYield bool) {
	if !s.AnyRule() {
		return s.AnyRow(d)
	}
	for _, u := range s.Units(d, room.AllUnits, room.AllClasses) {
		if v := s.Verdict(u, s.Now); v.Rule != 0 {
			s.noteProtected(u, v)
			s.Stay(u)
		} else {
			mayYield = true
		}
	}
	return mayYield
}

// ration gives the allowance of the budgets to the least important units; the other units stay until the end. It reports whether a
// unit may yield then.
func (s *steps) ration(d room.Domain) (mayYield bool) {
	ledger := s.Ledger()
	for _, u := range slices.Backward(s.Covered(d)) {
		if ledger.SpendAll(u) {
			mayYield = true
		} else {
			s.Stay(u)
		}
	}
	var node [1]int32
	for i := d.From; i < d.To && !mayYield; i++ {
		node[0] = int32(i)
		mayYield = slices.ContainsFunc(s.UnitsOn(node[:], room.AllUnits), func(u *state.Unit) bool { return !s.IsStaying(u) })
	}
	return mayYield
}

// keepsBudgets reports whether the budgets allow all victims together.
func (s *steps) keepsBudgets() bool {
	ledger := s.Ledger()
	for _, u := range s.victims {
		if u.Covered && !ledger.SpendAll(u) {
			return false
		}
	}
	return true
}

// overBudget lists the units that violate a budget, the most important first, as far as a later step asks about them.
func (s *steps) overBudget(d room.Domain) (list []*state.Unit) {
	if s.onlyNearMatters(d) {
		list = s.OverBudgetNear(d, s.Used)
	} else {
		list = s.OverBudget(d)
	}
	s.noteOverBudget(list)
	return list
}

// onlyNearMatters reports whether later steps ask only about units that share a node with a member. Other units that
// violate a budget then need not be listed.
func (s *steps) onlyNearMatters(d room.Domain) bool {
	c, r := s.Config, s.Request
	return !c.HardBudgets && (!c.FirstViolated || !s.Cluster.SharesPods()) && r.Rules.Importance == nil &&
		!r.Rules.DecidePlaces() && !s.AnyStays() && len(s.Cluster.BudgetOrder) > 0 && s.IsLarge(d)
}

// reprieve puts units back in order, each where it runs, and appends the units that cannot be put back. With forGood
// they stay in every later placement. A unit that shares no node with the placed members is put back without a check.
func (s *steps) reprieve(victims []*state.Unit, d room.Domain, units []*state.Unit, forGood bool) []*state.Unit {
	for _, u := range units {
		switch {
		case !s.MayTouch(d, u):
			if forGood && s.Config.Mode == ask.Design { // in place no later step looks there
				s.Stay(u)
			}
			s.notePutBack(u)
		case s.PutBack(d, u):
			if forGood {
				s.Stay(u)
			}
			s.notePutBack(u)
		default:
			victims = append(victims, u)
		}
	}
	return victims
}

// around lists the units that may yield at the floor on nodes with placed members: all others are put back without a
// check.
func (s *steps) around(d room.Domain) []*state.Unit {
	if s.IsWide() { // a conflict may be with any unit
		return s.Units(d, s.IsGone, room.AllClasses)
	}
	return s.UnitsOn(s.Used, s.IsGone)
}

// skipsLower reports whether the search for the lowest floor is left out. For one pod on one node it changes nothing:
// units come back in order of importance. But under rules about sets a unit that is back may permit another one. With
// the caller's own order of importance that order decides.
func (s *steps) skipsLower(d room.Domain) bool {
	rules := &s.Request.Rules
	return d.Size() == 1 && len(s.Members) == 1 && (!rules.HaveTrials() || rules.Importance != nil)
}

// lower finds by binary search the lowest floor at which enough members have a place, and leaves that placement.
func (s *steps) lower(d room.Domain) {
	// At index i the units of the lowest i priorities are gone.
	first := slices.Clone(s.Where)
	s.floors = s.ListLevels(s.floors[:0], d)
	low, high := 0, len(s.floors)
	for low < high {
		middle := int(uint(low+high) >> 1)
		s.Open(s.floorAt(middle), false)
		placed := s.Place(d)
		if placed >= s.enough {
			high = middle
		} else {
			low = middle + 1
		}
	}
	if s.Open(s.floorAt(high), false); s.Place(d) >= s.enough {
		return
	}
	// With some units in place the nodes are filled in another way, and too few members fit: the first placement,
	// with all units gone, is used.
	s.Open(s.Highest(), false)
	for m, node := range first {
		if node >= 0 {
			s.Put(m, node)
		}
	}
}

func (s *steps) floorAt(index int) int64 {
	if index == 0 {
		return room.NoFloor
	}
	return int64(s.floors[index-1])
}
