package nodes

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// coveredUnit is a unit that a budget covers, with what the indexes ask about it: units are far
// apart in memory.
type coveredUnit struct {
	order   uint64 // by priority, groups and their pods before others
	started int64
	uid     uint64 // the first bytes
	unit    *Unit
	slot    int32 // of the only budget; severalBudgets
}

// cover lists a unit if a budget covers it.
func (b *builder) cover(u *Unit) {
	if !u.covered {
		return
	}
	p := u.Pods[0]
	x := coveredUnit{uint64(math.MaxInt32-int64(u.Priority)) << 1, u.started, firstBytes(p.Facts.UID), u, severalBudgets}
	if !u.grouped {
		x.order++
	}
	if len(u.Pods) == 1 && len(p.budgets) == 1 {
		x.slot = p.budgets[0]
	}
	b.covered = append(b.covered, x)
}

// firstBytes returns the first bytes of a UID as a number in the same order.
func firstBytes(uid string) uint64 {
	var first [8]byte
	copy(first[:], uid)
	return binary.BigEndian.Uint64(first[:])
}

// timeBits is how many bits of a key tell start times apart. With 24 of them a hundred thousand
// units that started over a year share a key by twos and threes; to compare these costs less than
// to sort by more bits.
const timeBits = 24

// sortKey is a number that orders units as far as it goes, and the place of a unit in a list.
type sortKey struct {
	key uint64
	at  int32
}

// sortCovered returns units sorted by importance: by keys, and those with the same key by
// comparing. That takes a third of the time of comparing all.
func sortCovered(list []coveredUnit) []coveredUnit {
	keys := sortByKey(keysOf(list))
	sorted := make([]coveredUnit, len(list))
	for i, k := range keys {
		sorted[i] = list[k.at]
	}
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && keys[to].key == keys[from].key {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(sorted[from:to], compareCovered)
		}
		from = to
	}
	return sorted
}

// compareCovered compares units with the same key.
func compareCovered(a, b coveredUnit) int {
	switch {
	case a.isGrouped():
	case a.started != b.started: // each is one pod
		return cmp.Compare(a.started, b.started)
	case a.uid != b.uid:
		return cmp.Compare(a.uid, b.uid)
	}
	return compareUnits(a.unit, b.unit)
}

func (x *coveredUnit) isGrouped() bool { return x.order&1 == 0 }

// keysOf returns the keys of units: their order, then the start of those that are one pod.
func keysOf(list []coveredUnit) []sortKey {
	first, last := int64(justNow), int64(math.MinInt64)
	for i := range list {
		if at := list[i].started; at != justNow {
			first, last = min(first, at), max(last, at)
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
		case x.started == justNow:
			keys[i].key += most
		default:
			keys[i].key += uint64(x.started-first) >> shift
		}
	}
	return keys
}

// sortByKey sorts by counting, byte by byte from the lowest. Bytes that are the same in all keys
// are left out. It may return another list than it was given.
func sortByKey(list []sortKey) []sortKey {
	differ := uint64(0)
	for i := range list {
		differ |= list[i].key ^ list[0].key
	}
	if differ == 0 {
		return list
	}
	next := make([]sortKey, len(list))
	for shift := 0; differ>>shift != 0; shift += 8 {
		if byte(differ>>shift) == 0 {
			continue
		}
		var at [256]int
		for i := range list {
			at[byte(list[i].key>>shift)]++
		}
		total := 0
		for b, n := range at {
			at[b], total = total, total+n
		}
		for _, k := range list {
			b := byte(k.key >> shift)
			next[at[b]] = k
			at[b]++
		}
		list, next = next, list
	}
	return list
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
