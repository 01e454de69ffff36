package when

import (
	"math"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/usage"
)

// keptUntil returns the last instant at which a workload of the interval is protected.
func (v *interval) keptUntil(w *cluster.Workload) int64 {
	if v.delay > 0 && w.Reserved > math.MaxInt64-v.delay {
		return math.MaxInt64
	}
	return w.Reserved + v.delay
}

// before returns a predicate that holds for the workloads protected at an instant and for all
// before them in the lane.
func (v *interval) before(at int64) func(w *cluster.Workload) bool {
	return func(w *cluster.Workload) bool {
		return w.Priority < v.priority || w.Priority == v.priority && at <= v.keptUntil(w)
	}
}

// lastBefore returns the last instant, from the given one on, before anything changes; the
// highest int64 if nothing does.
func (v *interval) lastBefore(at int64) int64 {
	if v.lane == nil {
		if at <= v.until {
			return v.until
		}
	} else if w, ok := v.lane.Last(v.before(at)); ok && w.Priority == v.priority {
		return v.keptUntil(w)
	}
	return math.MaxInt64
}

// collectIntervals removes from the finder's view all workloads that may ever yield in an attempt, and
// collects the intervals of those protected now.
func (f *Finder) collectIntervals(borrowing bool) {
	f.intervals, f.kept = f.intervals[:0], f.kept[:0]
	asked := f.s.Request.Columns[:len(f.s.Request.Amounts)]
	f.view.Reset(f.s.Cluster, asked, len(asked))
	for i := range f.donors {
		d := &f.donors[i]
		p := f.s.Permission(d.Class, borrowing)
		for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
			f.letGo(i, f.running(i, lane), p)
		}
		if d.Minimum >= 0 {
			f.addIntervals(i, f.running(i, cluster.Active), p, d.Minimum, 1)
			f.addIntervals(i, f.running(i, cluster.SurplusReserved), p, d.Minimum, -1)
		}
		if d.Class == right.Own && f.s.EqualsMayYield() {
			f.addEquals(i)
		}
	}
}

// addEquals does so for workloads of equal priority in the own queue. Newer ones may yield
// once they are not protected; the others only when their time is over, too, which never
// happens without a reservation.
func (f *Finder) addEquals(donor int) {
	all := right.Permission{All: true}
	for lane := cluster.Active; lane <= cluster.SurplusReserved; lane++ {
		newer, older := f.splitEquals(donor, lane)
		minimum, times := int64(-1), int64(1)
		if lane == cluster.Active || lane == cluster.SurplusReserved {
			minimum = f.donors[donor].Minimum
		}
		if lane == cluster.SurplusReserved {
			times = -1
		} else {
			f.letGo(donor, newer, all)
		}
		if minimum >= 0 {
			f.addIntervals(donor, newer, all, minimum, times)
		}
		switch held := f.s.Request.MinAdmit; {
		case held == 0 || lane.Unreserved():
		case lane != cluster.SurplusReserved:
			f.letGo(donor, older, all)
			f.addIntervals(donor, older, all, max(minimum, held), times)
		case held < minimum:
			f.addIntervals(donor, older, all, minimum, times)
			f.addIntervals(donor, older, all, held, -times)
		}
	}
}

// splitEquals splits the equals in a lane of the own queue: newer than the preemptor, and the others.
func (f *Finder) splitEquals(donor int, lane cluster.Lane) (newer, older *cluster.LaneSet) {
	s := f.s
	var lists [2][]*cluster.Workload
	var cursor cluster.LaneCursor
	for cursor.Seek(*f.running(donor, lane), func(w *cluster.Workload) bool { return w.Priority < s.Request.Priority }); ; cursor.Next() {
		w, ok := cursor.Item()
		if !ok || w.Priority != s.Request.Priority {
			break
		}
		s.Steps++
		list := &lists[1]
		if s.Newer(w) {
			list = &lists[0]
		}
		*list = append(*list, w)
	}
	a, b := cluster.LaneOf(lane, lists[0]), cluster.LaneOf(lane, lists[1])
	return &a, &b
}

// addIntervals adds the intervals of a lane with workloads that are protected now.
func (f *Finder) addIntervals(donor int, lane *cluster.LaneSet, p right.Permission, delay, times int64) {
	var cursor cluster.LaneCursor
	for cursor.First(*lane); ; {
		w, ok := cursor.Item()
		if !ok || !p.Permits(w) {
			return
		}
		f.s.Steps++
		v := interval{lane, donor, w.Priority, delay, times, math.MaxInt64, math.MinInt64}
		if f.s.Now <= v.keptUntil(w) {
			f.intervals = append(f.intervals, v)
			f.kept = f.appendSum(f.kept, lane, func(w *cluster.Workload) bool { return w.Priority < v.priority })
		}
		cursor.Seek(*lane, func(w *cluster.Workload) bool { return w.Priority <= v.priority })
	}
}

// appendSum appends the usage of the workloads at the front of a lane, by slot of the
// request.
func (f *Finder) appendSum(list []int64, lane *cluster.LaneSet, before func(*cluster.Workload) bool) []int64 {
	n := len(list)
	list = append(list, make([]int64, len(f.s.Request.Amounts))...)
	cluster.AddFront(list[n:], f.s.Request.Columns[:len(list)-n], lane, before)
	return list
}

// letGo removes all permitted workloads of a lane from the finder's view.
func (f *Finder) letGo(donor int, lane *cluster.LaneSet, p right.Permission) {
	if lane.Len() == 0 {
		return
	}
	n := len(f.kept)
	f.kept = f.appendSum(f.kept, lane, p.Permits)
	f.view.RemoveSlots(usage.Victims, f.donors[donor].Queue, f.kept[n:])
	f.kept = f.kept[:n]
}

// moveTo changes the finder's view to the usage at an instant without all workloads that may yield
// then. It is the same from since to until, both included.
func (f *Finder) moveTo(at int64) (since, until int64) {
	since, until = math.MinInt64, math.MaxInt64
	for i := range f.intervals {
		v := &f.intervals[i]
		if at < v.since || at > v.until {
			f.moveInterval(i, at)
		}
		since, until = max(since, v.since), min(until, v.until)
	}
	return since, until
}

func (f *Finder) moveInterval(i int, at int64) {
	f.s.Steps++
	v := &f.intervals[i]
	before, slots, n := v.before(at), len(f.s.Request.Amounts), len(f.kept)
	f.kept = f.appendSum(f.kept, v.lane, before)
	kept, now := f.kept[i*slots:][:slots], f.kept[n:]
	for slot := range kept {
		f.view.MoveSlot(usage.Victims, f.donors[v.donor].Queue, slot, v.times*(now[slot]-kept[slot]))
		kept[slot] = now[slot]
	}
	f.kept = f.kept[:n]
	var cursor cluster.LaneCursor
	cursor.Seek(*v.lane, before)
	v.since, v.until = math.MinInt64, v.lastBefore(at)
	if w, ok := cursor.Item(); ok && w.Priority == v.priority {
		v.since = v.keptUntil(w) + 1
	}
}
