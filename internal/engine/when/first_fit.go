package when

import (
	"math"

	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/usage"
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
	return at, ok && !f.cut
}

// looksAtEach reports whether firstFit needs a look at each workload.
func (f *Finder) looksAtEach() bool {
	r := f.s.Request
	return r.Guard != nil || r.Room != nil || r.ProtectsFromAdmission()
}

// collectOfAny collects the intervals as firstFitOfAny does.
func (f *Finder) collectOfAny() {
	if borrowing := !f.s.MayPermitMore(); f.looksAtEach() {
		f.collectScanned(borrowing)
	} else {
		f.collectIntervals(borrowing)
	}
}

// firstFit returns the first instant from now on at which the request fits without all
// workloads that may yield in an attempt at that instant. If other searches have used up the steps it returns the first instant
// that it does not know, and notes that it was cut.
func (f *Finder) firstFit(borrowing bool) (at int64, ok bool) {
	s := f.s
	f.cut = false
	if f.looksAtEach() {
		return f.scan(borrowing)
	}
	fits := func() bool { return search.FitsIn(s, &f.view, usage.Victims, borrowing) }
	f.collectIntervals(borrowing)
	_, until := f.moveTo(s.Now)
	if fits() {
		return s.Now, true
	}
	since, _ := f.moveTo(math.MaxInt64)
	if !fits() {
		return 0, false
	}
	for low, high := until+1, since; ; { // the ends are instants of change
		if f.cut = low < high && s.Request.Retry.MaxSteps <= 0; f.cut || low == high {
			return low, true
		}
		since, until = f.moveTo(low + int64(uint64(high-low)/2))
		if fits() {
			high = since
		} else {
			low = until + 1
		}
	}
}
