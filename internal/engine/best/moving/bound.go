package moving

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/cedesched/cede/quota"
)

// bound returns a lower bound of the cost of all sets with the units that leave so far; possible is false if there are none.
func (x *solver) bound() (least Cost, possible bool) {
	least = x.paid
	for _, node := range x.busy {
		lost, pods, ok := x.leastOn(node)
		if !ok {
			return least, false
		}
		least.Lost, least.Pods = quota.Add(least.Lost, lost), least.Pods+pods
	}
	extra, ok := x.leastYields()
	least.Lost = quota.Add(least.Lost, extra)
	return least, ok
}

// leastOn returns what the units that must still leave a node cost at least. The price of a unit on several nodes is divided
// by their number.
func (x *solver) leastOn(node int) (lost, pods int64, possible bool) {
	isClosed := x.isClosed(node)
	var prices, counts []int64
	for _, u := range x.on[node] {
		if x.status[u] != open {
			if isClosed && x.status[u] == stays {
				return 0, 0, false
			}
			continue
		}
		var here, nodes int64
		last := -1
		for _, pod := range x.Units[u].Pods {
			if pod.At == node {
				here++
			}
			if pod.At != last {
				last, nodes = pod.At, nodes+1
			}
		}
		prices, counts = append(prices, x.least(u)/nodes), append(counts, here)
	}
	need := 0 // units
	if isClosed {
		need = len(prices)
	}
	for slot, free := range x.Free[node] {
		if free >= 0 || isClosed || !x.asksFor(node, slot) {
			continue
		}
		n, ok := x.leastUnits(node, slot, -free)
		if !ok {
			return 0, 0, false
		}
		need = max(need, n)
	}
	slices.Sort(prices)
	slices.Sort(counts)
	for i := range need {
		lost, pods = quota.Add(lost, prices[i]), pods+counts[i]
	}
	return lost, pods, true
}

// least is the least that a unit loses if it leaves.
func (x *solver) least(u int) int64 { return min(x.Units[u].Move, x.Units[u].Yield) }

// leastUnits returns the least number of units that free an amount on a node.
func (x *solver) leastUnits(node, slot int, amount int64) (n int, possible bool) {
	var list []int64
	for _, u := range x.on[node] {
		if x.status[u] == open {
			list = append(list, x.takes(u, node, slot))
		}
	}
	slices.Sort(list)
	for ; amount > 0; n++ {
		if n == len(list) {
			return n, false
		}
		amount -= list[len(list)-1-n]
	}
	return n, true
}

// leastYields returns what it costs at least, beyond the least of each unit, that some yield: pods that move free as much as
// they take, so what waits in sum for more than is free in sum must come from units that yield.
func (x *solver) leastYields() (extra int64, possible bool) {
	if len(x.Free) == 0 {
		return 0, true
	}
	for slot := range x.Free[0] {
		missing := x.missing(slot)
		if missing <= 0 {
			continue
		}
		least, ok := x.leastExtra(slot, missing)
		if !ok {
			return 0, false
		}
		extra = max(extra, least)
	}
	return extra, true
}

// missing returns how much more of a slot is needed in sum than is free in sum. Pods of units that still may leave count where
// they are.
func (x *solver) missing(slot int) (sum int64) {
	sum = -x.spare[slot]
	for i, node := range x.busy {
		switch free := x.Free[node][slot]; {
		case i < x.closed:
			sum += x.loose[node][slot]
		case free < 0 && x.asksFor(node, slot):
			sum -= free
		}
	}
	for _, u := range x.wait {
		for k, at := range x.places[u] {
			if at < 0 {
				sum += x.Units[u].Pods[k].Needs[slot]
			}
		}
	}
	return sum
}

// item is a unit that may yield.
type item struct {
	unit         int
	extra, takes int64 // its price beyond the least of the unit; what it takes of a slot
}

// findCheap sorts, for each slot, the units that may yield by the extra price of what they take.
func (x *solver) findCheap() {
	if len(x.Free) == 0 {
		return
	}
	x.cheap = make([][]item, len(x.Free[0]))
	for slot := range x.cheap {
		for u := range x.Units {
			if x.Units[u].Yield == Never {
				continue
			}
			var takes int64
			for _, pod := range x.Units[u].Pods {
				takes = quota.Add(takes, pod.Needs[slot])
			}
			if takes > 0 {
				x.cheap[slot] = append(x.cheap[slot], item{u, x.Units[u].Yield - x.least(u), takes})
			}
		}
		slices.SortStableFunc(x.cheap[slot], func(a, b item) int {
			aHigh, aLow := bits.Mul64(uint64(a.extra), uint64(b.takes))
			bHigh, bLow := bits.Mul64(uint64(b.extra), uint64(a.takes))
			return cmp.Or(cmp.Compare(aHigh, bHigh), cmp.Compare(aLow, bLow))
		})
	}
}

// leastExtra returns the least by which units that yield, in place of what is cheapest for them, free an amount.
func (x *solver) leastExtra(slot int, amount int64) (extra int64, possible bool) {
	for _, it := range x.cheap[slot] {
		switch {
		case x.status[it.unit] != open:
		case it.takes >= amount:
			high, low := bits.Mul64(uint64(it.extra), uint64(amount))
			part, _ := bits.Div64(high, low, uint64(it.takes))
			return quota.Add(extra, int64(part)), true
		default:
			extra, amount = quota.Add(extra, it.extra), amount-it.takes
		}
	}
	return extra, false
}
