package nodes

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// coveredUnit is a unit that a budget covers, with what the indexes ask about it: units are far
// apart in memory.
type coveredUnit struct {
	priority int32
	slot     int32 // of the only budget; severalBudgets
	grouped  bool
	started  int64
	uid      uint64 // the first bytes
	unit     *Unit
}

const severalBudgets = -1

func coveredUnitOf(u *Unit) coveredUnit {
	var uid [8]byte
	p := u.Pods[0]
	copy(uid[:], p.Facts.UID)
	slot := int32(severalBudgets)
	if len(u.Pods) == 1 && len(p.budgets) == 1 {
		slot = p.budgets[0]
	}
	return coveredUnit{u.Priority, slot, u.grouped, u.started, binary.BigEndian.Uint64(uid[:]), u}
}

// sortCovered sorts units by importance.
func sortCovered(list []coveredUnit) {
	slices.SortFunc(list, func(a, b coveredUnit) int {
		switch {
		case a.priority != b.priority:
			return cmp.Compare(b.priority, a.priority)
		case !a.grouped && !b.grouped && a.started != b.started: // each is one pod
			return cmp.Compare(a.started, b.started)
		case !a.grouped && !b.grouped && a.uid != b.uid:
			return cmp.Compare(a.uid, b.uid)
		}
		return compareUnits(a.unit, b.unit)
	})
}

// byBudget lists sorted units by budget, in their order.
func byBudget(units []coveredUnit, budgets int) []coverage {
	from := make([]int, budgets+1) // of each budget, in the list
	each := func(visit func(slot int32, u *Unit)) {
		var slots []int32
		for i := range units {
			if units[i].slot != severalBudgets {
				visit(units[i].slot, units[i].unit)
				continue
			}
			slots = units[i].unit.budgets(slots[:0])
			for _, slot := range slots {
				visit(slot, units[i].unit)
			}
		}
	}
	each(func(slot int32, _ *Unit) { from[slot+1]++ })
	for i := range budgets {
		from[i+1] += from[i]
	}
	list := make([]coverage, from[budgets])
	each(func(slot int32, u *Unit) {
		list[from[slot]] = coverage{slot, u}
		from[slot]++
	})
	return list
}
