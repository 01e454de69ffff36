package when

import (
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
)

// queueEvents orders the intervals by their next change from an instant on: those of the last
// firstFit, where a minimum runtime, minAdmitDuration or a guard ends, and those where only
// the order changes. The order changes when the time of an equal in the own queue ends that
// may yield already as newer, and when workloads without reservation, which count as reserved
// now, pass a reservation in the future.
func (f *Finder) queueEvents(from int64) {
	s := f.s
	unreserved := false
	for i := range f.donors {
		unreserved = unreserved || f.running(i, cluster.EvictedUnreserved).Len()+f.running(i, cluster.ActiveUnreserved).Len() > 0
	}
	for i := range f.donors {
		for _, lane := range [...]*cluster.LaneSet{f.running(i, cluster.Active), f.running(i, cluster.Evicted)} {
			if f.donors[i].Class == right.Own && s.EqualsMayYield() && s.Request.MinAdmit > 0 {
				f.intervals = append(f.intervals, interval{donor: i, lane: lane, priority: s.Request.Priority, delay: s.Request.MinAdmit})
			}
			if unreserved {
				f.addIntervals(i, lane, right.Permission{All: true}, -1, 0)
				f.addIntervals(i, lane, right.Permission{All: true}, 0, 0)
			}
		}
	}
	if s.Request.Fair.Reevaluate && s.Request.Protection.Reclaim > 0 {
		f.addReclaims()
	}
	for i := range f.intervals {
		f.intervals[i].until = f.intervals[i].lastBefore(from)
	}
	heap.Init(f.intervals, sooner)
}

// addReclaims adds the ends of the protections against reclaims, which those that a strategy
// refused may be protected by when it runs again.
func (f *Finder) addReclaims() {
	for i := range f.donors {
		for _, lane := range [...]cluster.Lane{cluster.Active, cluster.ActiveUnreserved} {
			var cursor cluster.LaneCursor
			for cursor.First(*f.running(i, lane)); ; cursor.Next() {
				w, ok := cursor.Item()
				if !ok {
					break
				}
				f.s.Steps++
				if until, ok := f.s.ProtectionFromReclaim(w); ok && until < math.MaxInt64 {
					f.addEvent(i, until+1)
				}
			}
		}
	}
}

// sooner orders intervals by their next change.
func sooner(a, b *interval) bool { return a.until < b.until }

// addEvent adds an interval that changes at one instant.
func (f *Finder) addEvent(donor int, at int64) {
	f.intervals = append(f.intervals, interval{donor: donor, until: at - 1})
}

// nextEvent returns the next instant at which anything changes. If note is set, it records
// the donors that change.
func (f *Finder) nextEvent(note bool) (at int64, ok bool) {
	none := len(f.intervals) == 0 || f.intervals[0].until == math.MaxInt64
	if at, ok = f.s.NextOfLimits(); ok && (none || at <= f.intervals[0].until) {
		f.s.Steps++
		return at, true
	}
	if none {
		return 0, false
	}
	first := &f.intervals[0]
	for at = first.until + 1; first.until < at; heap.Fix(f.intervals, 0, sooner) {
		f.s.Steps++
		if note && !slices.Contains(f.changed, first.donor) {
			f.changed = append(f.changed, first.donor)
		}
		first.until = first.lastBefore(at)
	}
	return at, true
}
