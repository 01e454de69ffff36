package when

import (
	"math"
	"slices"
	"sort"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
)

// scan is firstFit with a look at every workload.
func (f *Finder) scan(borrowing bool) (at int64, ok bool) {
	f.collectScanned(borrowing)
	first := sort.Search(len(f.instants), func(i int) bool { return f.fitsAt(f.instants[i], borrowing) })
	if first == len(f.instants) {
		return 0, false
	}
	return f.instants[first], true
}

// collectScanned collects the workloads that an attempt permits, and the instants at which one of them may yield.
func (f *Finder) collectScanned(borrowing bool) {
	f.intervals, f.scanned, f.instants = f.intervals[:0], f.scanned[:0], f.instants[:0]
	for i := range f.donors {
		f.scanDonor(i, borrowing)
	}
	now := f.s.Now
	f.instants = append(f.instants, now)
	for i := range f.scanned {
		for _, until := range [...]int64{f.scanned[i].surplus, f.scanned[i].whole} {
			if now <= until && until < math.MaxInt64 {
				f.instants = append(f.instants, until+1)
				f.addEvent(f.scanned[i].donor, until+1)
			}
		}
	}
	slices.Sort(f.instants)
	f.instants = slices.Compact(f.instants)
}

// scanDonor lists the workloads of a donor that an attempt permits.
func (f *Finder) scanDonor(donor int, borrowing bool) {
	s, d := f.s, &f.donors[donor]
	p := s.Permission(d.Class, borrowing)
	if p == right.None {
		return
	}
	for lane := cluster.Active; lane <= cluster.EvictedUnreserved; lane++ {
		var cursor cluster.LaneCursor
		for cursor.First(*f.running(donor, lane)); ; cursor.Next() {
			w, ok := cursor.Item()
			if !ok || !p.All && w.Priority > p.Below {
				break
			}
			s.Steps++
			until := s.RefusedUntil(d, p, w)
			if until == math.MaxInt64 || !s.UsesNeeded(w.Loads) {
				continue
			}
			whole := max(until, s.ProtectedUntil(d, w))
			if s.Request.Guard != nil {
				if lane == cluster.Evicted || lane == cluster.EvictedUnreserved { // it is awaited whatever guards say
					f.addEvent(donor, until+1)
				}
				until = max(until, s.Request.Guard(w))
			}
			f.scanned = append(f.scanned, scanned{w, donor, until, whole})
		}
	}
}

// fitsAt reports whether the request fits without all workloads that may yield at an instant.
func (f *Finder) fitsAt(at int64, borrowing bool) bool {
	s := f.s
	for i := range f.scanned {
		l := &f.scanned[i]
		q := f.donors[l.donor].Queue
		if at > l.whole {
			s.Take(right.Victim{Workload: l.workload, Set: -1, Count: 1, Queue: q})
		} else if at > l.surplus {
			for set := range l.workload.Surplus {
				s.Take(right.Victim{Workload: l.workload, Set: set, Count: l.workload.Surplus[set].Count, Queue: q})
			}
		}
	}
	fits := s.Fits(source.Mode{Borrowing: borrowing})
	s.PutAllBack()
	return fits
}
