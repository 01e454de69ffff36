package when

import (
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/usage"
)

// Once a trial has failed, a test that costs less comes before each: a classical attempt
// takes of each donor its candidates in order, at most until the queue is within nominal
// quota, whatever is taken of others. So the request must fit with that much of every donor
// gone; and from event to event only the donors change whose events they are.

// startBound begins to bound trials, and says whether it does: only where every attempt
// takes the same of a donor. In fair sharing, and with the largest first, that depends on
// the others.
func (f *Finder) startBound() bool {
	s := f.s
	if s.Request.Fair.Enabled() || s.Request.LargestFirst || s.Request.Room != nil || s.MayPermitMore() {
		return false
	}
	f.changed = f.changed[:0]
	for i := range f.donors {
		f.changed = append(f.changed, i)
	}
	f.clearMoved()
	return true
}

// boundFits reports whether the request fits with as much of every donor gone as an attempt
// takes at most, at the Now of the search.
func (f *Finder) boundFits() bool {
	for _, donor := range f.changed {
		f.takeMost(donor)
	}
	f.changed = f.changed[:0]
	return f.s.Fits(true)
}

// takeMost takes from a donor what an attempt takes at most, instead of what is gone of it
// so far.
func (f *Finder) takeMost(donor int) {
	s := f.s
	slots, d := len(s.Request.Amounts), f.donors[donor]
	if d.Class != search.Own {
		d.LCA = s.View.Tree.Parent(d.Queue) // cohorts between are others' as well
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
