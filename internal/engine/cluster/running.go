package cluster

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/quota"
)

// Running holds what runs in one queue: an ordered index for each lane. It is immutable.
type Running struct {
	home  *home // of its workloads that have no local queue
	lanes [AllLanes]LaneSet
}

// LaneSet holds the workloads of a lane in the order of candidates, with sums of their loads;
// in a surplus lane, of their surplus.
type LaneSet = ordered.Set[*Workload, []quotatree.Load]

// LaneCursor walks a [LaneSet].
type LaneCursor = ordered.Cursor[*Workload, []quotatree.Load]

var (
	laneOrder    = orderWith(func(sum *[]quotatree.Load, w *Workload) { *sum = quotatree.AddLoads(*sum, w.Loads) }, dropLoads)
	surplusOrder = orderWith(addSurplus, nil)
)

func orderWith(addItem func(*[]quotatree.Load, *Workload), dropItem func(*[]quotatree.Load, *Workload) bool) *ordered.Order[*Workload, []quotatree.Load] {
	return &ordered.Order[*Workload, []quotatree.Load]{
		Compare:  compareInLane,
		AddItem:  addItem,
		DropItem: dropItem,
		AddSum:   func(sum *[]quotatree.Load, other []quotatree.Load) { *sum = quotatree.AddLoads(*sum, other) },
	}
}

// dropLoads takes a workload out of a sum of usage, which is exact below [quota.MaxUsage]. Where nothing
// of a column is left it cannot tell whether another workload names the column.
func dropLoads(sum *[]quotatree.Load, w *Workload) (ok bool) {
	from := 0
	for _, l := range w.Loads {
		for from < len(*sum) && (*sum)[from].Column < l.Column {
			from++
		}
		if from == len(*sum) || (*sum)[from].Amount <= l.Amount {
			return false
		}
		(*sum)[from].Amount -= l.Amount
	}
	return true
}

// AddFront adds the usage of the workloads at the front of a lane to amounts, one for each of the columns. A column that the cluster does
// not know is -1.
func AddFront(amounts []int64, columns []int, lane *LaneSet, before func(*Workload) bool) {
	item := func(w *Workload) { addColumns(amounts, columns, 1, w.Loads) }
	if lane.Order() == surplusOrder {
		item = func(w *Workload) {
			for i := range w.Surplus {
				addColumns(amounts, columns, w.Surplus[i].Count, w.Surplus[i].Loads)
			}
		}
	}
	lane.Parts(before, item, func(sum []quotatree.Load) { addColumns(amounts, columns, 1, sum) })
}

// addColumns adds the amounts of some columns, so many times. The amounts stay exact: they are below [quota.MaxUsage].
func addColumns(amounts []int64, columns []int, times int64, loads []quotatree.Load) {
	for i, column := range columns {
		amounts[i] += quota.Mul(times, quotatree.AmountIn(loads, column))
	}
}

func addSurplus(sum *[]quotatree.Load, w *Workload) {
	for i := range w.Surplus {
		loads := slices.Clone(w.Surplus[i].Loads)
		for j := range loads {
			loads[j].Amount = quota.Mul(w.Surplus[i].Count, loads[j].Amount)
		}
		*sum = quotatree.AddLoads(*sum, loads)
	}
}

// LaneOf returns an index of some workloads of a lane, which must be in order. It keeps the
// list.
func LaneOf(lane Lane, sorted []*Workload) LaneSet {
	if lane.Surplus() {
		return ordered.Of(surplusOrder, sorted)
	}
	return ordered.Of(laneOrder, sorted)
}

// Lane returns the index of a lane.
func (r *Running) Lane(l Lane) *LaneSet { return &r.lanes[l] }

// Len returns the number of records: workloads, and leaving replicas of a pod set.
func (r *Running) Len() int {
	n := 0
	for lane := range WholeLanes {
		n += r.lanes[lane].Len()
	}
	return n
}

// workloads returns the number of workloads.
func (r *Running) workloads() (n int) {
	for range r.Workloads {
		n++
	}
	return n
}

// Workloads calls yield with every workload once, as Whole, and not with what leaves of it.
func (r *Running) Workloads(yield func(*Workload) bool) {
	for w := range r.Whole {
		if w.Leaving == 0 && !yield(w) {
			return
		}
	}
}

// Whole calls yield with every record once, lane by lane, each in the order of candidates.
func (r *Running) Whole(yield func(*Workload) bool) {
	for lane := range WholeLanes {
		var cursor LaneCursor
		for cursor.First(r.lanes[lane]); ; cursor.Next() {
			w, ok := cursor.Item()
			if !ok {
				break
			}
			if !yield(w) {
				return
			}
		}
	}
}

// addTo adds up the usage of all workloads.
func (r *Running) addTo(sum *[]quotatree.Load) {
	for lane := range WholeLanes {
		r.lanes[lane].Total(sum)
	}
}

// NeverYielding returns what the workloads of a queue that never yield hold in a column.
func (c *Cluster) NeverYielding(queue, column int) int64 {
	var sum [1]int64
	for _, lane := range [...]Lane{NeverYielding, NeverYieldingUnreserved} {
		AddFront(sum[:], []int{column}, c.Running(queue).Lane(lane), func(*Workload) bool { return true })
	}
	return sum[0]
}

// WholeLanes calls yield with the lanes that together hold every record once.
func WholeLanes(yield func(Lane) bool) {
	for lane := range AllLanes {
		if !lane.Surplus() && !yield(lane) {
			return
		}
	}
}

// Lane is a part of a queue's running workloads. Evicted workloads come before active ones.
// Workloads without reservation time count as reserved at the time of the decision, so they
// have lanes of their own. The surplus lanes hold the active workloads with surplus replicas
// a second time.
type Lane int

const (
	Active Lane = iota
	ActiveUnreserved
	Evicted
	EvictedUnreserved
	SurplusReserved
	SurplusUnreserved
	Lanes // the number of lanes of candidates
)

// These lanes hold the workloads that never yield. No search for candidates looks at them, nor
// do the sums of what candidates use.
const (
	NeverYielding           = Lanes
	NeverYieldingUnreserved = NeverYielding + 1
	AllLanes                = NeverYielding + 2 // the number of lanes
)

// Surplus reports whether the lane is one of surplus.
func (l Lane) Surplus() bool { return l == SurplusReserved || l == SurplusUnreserved }

// Yields reports whether the lane holds candidates.
func (l Lane) Yields() bool { return l < Lanes }

// Unreserved reports whether the lane holds workloads without reservation time: the second of
// each pair of lanes.
func (l Lane) Unreserved() bool { return l&1 == 1 }

// laneMask is a set of lanes.
type laneMask uint8

const allLanes laneMask = 1<<Lanes - 1

func (m laneMask) has(l Lane) bool { return m>>l&1 != 0 }

// lanes returns the lanes that the workload is in; none if it is nil.
func (w *Workload) lanes() laneMask {
	if w == nil {
		return 0
	}
	lane := w.lane()
	mask := laneMask(1) << lane
	if len(w.Surplus) > 0 {
		mask |= 1 << (SurplusReserved + lane&1)
	}
	return mask
}

// lanesMask returns the lanes of candidates that the workload is in.
func (w *Workload) lanesMask() laneMask { return w.lanes() & allLanes }

func (w *Workload) lane() Lane {
	lane := Active
	switch {
	case w.Facts.Evicted:
		lane = Evicted
	case w.Facts.NeverYields:
		lane = NeverYielding
	}
	if w.Reserved == instant.Unset {
		lane++
	}
	return lane
}

// compareInLane is the order of candidates in a lane (KEP-83, Preemption, step 3): lower
// priority first, then later reservation; ties by UID, then ID.
func compareInLane(a, b *Workload) int {
	switch {
	case a.Priority != b.Priority:
		return cmp.Compare(a.Priority, b.Priority)
	case a.Reserved != b.Reserved:
		return cmp.Compare(b.Reserved, a.Reserved)
	}
	return CompareIDs(a, b)
}

// CompareIDs orders by UID, then ID; records of the same workload by pod set.
func CompareIDs(a, b *Workload) int {
	if c := cmp.Compare(a.Facts.UID, b.Facts.UID); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Facts.ID, b.Facts.ID); c != 0 {
		return c
	}
	return cmp.Compare(a.Leaving, b.Leaving)
}
