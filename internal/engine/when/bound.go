package when

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/usage"
)

// After the first failed trial, a cheaper test comes before each trial. A classical attempt
// takes the candidates of each donor in order, at most until the queue is within its nominal
// quota, independent of other donors. So the request must fit without that much of every
// donor. From one event to the next only the donors with an event change.

// startBound starts the test and reports whether it applies: only where every attempt takes
// the same from a donor. Where shares decide that depends on other
// donors; the search Best takes the candidates of a donor in any order; by the usage of local queues
// they come in another order than in their lanes; and what leaves anyway is taken from a donor that borrows no more.
func (f *Finder) startBound() bool {
	s := f.s
	if s.Request.SharesDecide() || s.Request.Room != nil || s.Request.Better.Proves() || s.Request.Limits != nil || s.MayPermitMore() ||
		source.ByUsage(&s.Case) || source.AnyLeaving(&s.Case) {
		return false
	}
	f.changed = f.changed[:0]
	for i := range f.donors {
		f.changed = append(f.changed, i)
	}
	f.clearMoved()
	return true
}

// boundFits reports whether the request fits without the most that an attempt takes from
// every donor, at the Now of the search.
func (f *Finder) boundFits() bool {
	for _, donor := range f.changed {
		f.takeMost(donor)
	}
	f.changed = f.changed[:0]
	return f.s.Fits(source.Mode{Borrowing: true})
}

// takeMost removes from a donor the most that an attempt takes, in place of what is removed
// so far.
func (f *Finder) takeMost(donor int) {
	s := f.s
	slots, d := len(s.Request.Amounts), f.donors[donor]
	if d.Class != right.Own {
		d.LCA = s.View.Tree.Parent(d.Queue) // cohorts between belong to other donors, too
	}
	for slot, moved := range f.moved[donor*slots:][:slots] {
		f.shift(donor, slot, -moved)
	}
	f.before = f.before[:0]
	for slot := range slots {
		f.before = append(f.before, s.View.Cells(d.Queue)[slot].Used(usage.Victims))
	}
	s.TakeAllOf(d)
	s.Taken = s.Taken[:0]
	for slot, before := range f.before {
		f.moved[donor*slots+slot] = s.View.Cells(d.Queue)[slot].Used(usage.Victims) - before
	}
}

// clearMoved resets what was moved to nothing.
func (f *Finder) clearMoved() {
	f.moved = append(f.moved[:0], make([]int64, len(f.donors)*len(f.s.Request.Amounts))...)
}

// shift adds an amount to a donor's queue and records it.
func (f *Finder) shift(donor, slot int, change int64) {
	f.moved[donor*len(f.s.Request.Amounts)+slot] += change
	f.s.View.MoveSlot(usage.Victims, f.donors[donor].Queue, slot, change)
}

// shiftAll adds all recorded amounts again, or subtracts them (times -1).
func (f *Finder) shiftAll(times int64) {
	slots := len(f.s.Request.Amounts)
	for i, change := range f.moved {
		f.s.View.MoveSlot(usage.Victims, f.donors[i/slots].Queue, i%slots, times*change)
	}
}
