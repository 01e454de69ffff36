package state

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// coveredUnit is a unit that a budget covers, with what the indexes ask about it: units are far apart in memory.
type coveredUnit struct {
	order   uint64 // by priority, then by rank
	started int64
	uid     uint64 // the first bytes
	unit    *Unit
	slot    int32 // of the only budget; SeveralBudgets
}

// coveredUnits collects the units that a budget covers.
type coveredUnits []coveredUnit

// add adds a unit if a budget covers it.
func (list *coveredUnits) add(u *Unit) {
	if u == nil || !u.Covered {
		return
	}
	p := u.Pods[0]
	order := uint64(math.MaxInt32-int64(u.Priority))<<rankBits | uint64(RankOfGroups-u.Rank)
	x := coveredUnit{order, u.Started, firstBytes(p.Facts.UID), u, SeveralBudgets}
	if len(u.Pods) == 1 && len(p.Budgets) == 1 {
		x.slot = p.Budgets[0]
	}
	*list = append(*list, x)
}

// firstBytes returns the first bytes of a UID as a number in the same order.
func firstBytes(uid string) uint64 {
	var first [8]byte
	copy(first[:], uid)
	return binary.BigEndian.Uint64(first[:])
}

// rankBits is how many bits of a key hold the rank.
const rankBits = 2

// timeBits is how many bits of a key tell start times apart. With 24 bits, two or three of a hundred thousand units
// that started over a year share a key; to compare them costs less than to sort by more bits.
const timeBits = 24

// sortKey is a number that orders units as far as it goes, and the place of a unit in a list.
type sortKey struct {
	key   uint64
	index int32
}

// sort returns the units by importance: it sorts by keys, and compares units with the same key. That takes less than
// half of the time of comparing all.
func (list coveredUnits) sort() coveredUnits {
	keys := list.keys()
	slices.SortFunc(keys, func(a, b sortKey) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return compareCovered(&list[a.index], &list[b.index])
	})
	sorted := make(coveredUnits, len(list))
	for i, k := range keys {
		sorted[i] = list[k.index]
	}
	return sorted
}

// compareCovered compares units with the same key.
func compareCovered(a, b *coveredUnit) int {
	switch {
	case a.isGrouped():
	case a.started != b.started: // both are one pod
		return cmp.Compare(a.started, b.started)
	case a.uid != b.uid:
		return cmp.Compare(a.uid, b.uid)
	}
	return CompareUnits(a.unit, b.unit)
}

func (x *coveredUnit) isGrouped() bool { return x.unit.Rank > RankOfPod }

// keys returns the keys of the units: their order, then the start of units of one pod.
func (list coveredUnits) keys() []sortKey {
	first, last := int64(JustNow), int64(math.MinInt64)
	for i := range list {
		if started := list[i].started; started != JustNow {
			first, last = min(first, started), max(last, started)
		}
	}
	const most = 1<<timeBits - 1
	shift := 0
	for first < last && uint64(last-first)>>shift > most {
		shift++
	}
	keys := make([]sortKey, len(list))
	for i := range list {
		x := &list[i]
		keys[i] = sortKey{x.order << timeBits, int32(i)}
		switch {
		case x.isGrouped():
		case x.started == JustNow:
			keys[i].key += most
		default:
			keys[i].key += uint64(x.started-first) >> shift
		}
	}
	return keys
}

// byBudget lists the sorted units by budget, in their order.
func (list coveredUnits) byBudget(budgets int) []coverage {
	from := make([]int, budgets+1) // of each budget, in the list
	each := func(visit func(slot int32, u *Unit)) {
		var slots []int32
		for i := range list {
			if list[i].slot != SeveralBudgets {
				visit(list[i].slot, list[i].unit)
				continue
			}
			slots = list[i].unit.budgets(slots[:0])
			for _, slot := range slots {
				visit(slot, list[i].unit)
			}
		}
	}
	each(func(slot int32, _ *Unit) { from[slot+1]++ })
	for i := range budgets {
		from[i+1] += from[i]
	}
	all := make([]coverage, from[budgets])
	each(func(slot int32, u *Unit) {
		all[from[slot]] = coverage{slot, u}
		from[slot]++
	})
	return all
}
