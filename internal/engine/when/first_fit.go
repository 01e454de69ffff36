package when

import (
	"math"

	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
)

// firstFitOfAny is firstFit of the attempts that time can change.
func (f *Finder) firstFitOfAny() (at int64, ok bool) {
	at, ok = f.firstFit(true)
	if f.s.MayPermitMore() { // who may yield with borrowing may yield without
		if other, found := f.firstFit(false); found && (!ok || other < at) {
			at, ok = other, true
		}
	}
	return at, ok
}

// firstFitOfOwn is firstFit with the workloads of the own queue alone. In every attempt all
// of them stay candidates, so an attempt succeeds at that instant. ok is also false if that
// is not proven: if some workloads free nothing that needs preemption but another requested
// column, if there is a room to ask, or if stable fair sharing
// or limits may refuse some.
func (f *Finder) firstFitOfOwn() (at int64, ok bool) {
	s := f.s
	if len(f.donors) == 0 || f.donors[0].Class != right.Own || s.Request.Room != nil || s.Request.Fair.Stable || s.Request.Limits != nil {
		return 0, false
	}
	for slot, needed := range s.Needs {
		if !needed && s.Request.Amounts[slot] > 0 {
			return 0, false
		}
	}
	all := f.donors
	f.donors = all[:1]
	at, ok = f.firstFit(true)
	f.donors = all
	return at, ok
}

// firstFit returns the first instant from now on at which the request fits without all
// workloads that may yield in an attempt at that instant.
func (f *Finder) firstFit(borrowing bool) (at int64, ok bool) {
	s := f.s
	if s.Request.Guard != nil || s.Request.Room != nil || s.Request.ProtectsFromAdmission() {
		return f.scan(borrowing)
	}
	f.collectIntervals(borrowing)
	defer f.shiftAll(-1)
	_, until := f.moveTo(s.Now)
	if s.Fits(source.Mode{Borrowing: borrowing}) {
		return s.Now, true
	}
	since, _ := f.moveTo(math.MaxInt64)
	if !s.Fits(source.Mode{Borrowing: borrowing}) {
		return 0, false
	}
	for low, high := until+1, since; ; { // the ends are instants of change
		if low == high {
			return high, true
		}
		since, until = f.moveTo(low + int64(uint64(high-low)/2))
		if s.Fits(source.Mode{Borrowing: borrowing}) {
			high = since
		} else {
			low = until + 1
		}
	}
}
