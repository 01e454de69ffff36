package search

import (
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

// FitsAtFirst reports whether the request fits with nobody gone. Where it is asked to, it
// finds what needs preemption: what does not fit or, where there is no room, all that takes
// anything.
func (s *Search) FitsAtFirst() bool {
	if !s.Request.FindNeeds {
		return s.Fits(true)
	}
	roomy := s.Request.Room == nil || s.Request.Room.Fits()
	fits := roomy
	s.needs = s.needs[:0]
	for slot, amount := range s.Request.Amounts {
		needed := amount > 0
		if needed && roomy {
			available, _ := s.View.Available(usage.Victims, s.Request.Queue, slot)
			needed = amount > available
		}
		s.needs = append(s.needs, needed)
		fits = fits && !needed
	}
	s.Needs = s.needs
	return fits
}

// Fits reports whether the whole request fits with the victims gone. Without borrowing it
// must fit in the queue's nominal quota as well. The room, where there is one, is asked
// last: it costs more.
func (s *Search) Fits(borrowing bool) bool {
	return s.fitsIn(usage.Victims, borrowing) && (s.Request.Room == nil || s.Request.Room.Fits())
}

// fitsIn is Fits for the quota alone, with others gone.
func (s *Search) fitsIn(gone usage.Gone, borrowing bool) bool {
	cells := s.View.Cells(s.Request.Queue)
	for slot, amount := range s.Request.Amounts {
		if amount == 0 {
			continue
		}
		if !borrowing && quota.Add(cells[slot].Used(gone), amount) > cells[slot].Nominal {
			return false
		}
		if a, _ := s.View.Available(gone, s.Request.Queue, slot); amount > a {
			return false
		}
	}
	return true
}

// OverPotential reports whether the request is more than there is, whoever leaves.
func (s *Search) OverPotential() bool {
	for slot, amount := range s.Request.Amounts {
		if amount > s.View.Potential(s.Request.Queue, slot) {
			return true
		}
	}
	return false
}

// underNominal reports whether the preemptor's queue is strictly under its nominal
// quota in all that needs preemption.
func (s *Search) underNominal() bool {
	cells := s.View.Cells(s.Request.Queue)
	for slot, needed := range s.Needs {
		if needed && cells[slot].Used(usage.Victims) >= cells[slot].Nominal {
			return false
		}
	}
	return true
}

// BorrowHeight is the largest over the request's columns of the height from which the
// queue borrows, with the victims gone; see [usage.View.BorrowHeight].
func (s *Search) BorrowHeight() int {
	height := 0
	for slot, amount := range s.Request.Amounts {
		height = max(height, s.View.BorrowHeight(s.Request.Queue, slot, amount))
	}
	return height
}

// Shortage is what a slot lacks, and the node that bounds it.
type Shortage struct {
	Slot    int
	Missing int64
	Bound   int
}

// noteShortages notes what does not fit.
func (s *Search) noteShortages(gone usage.Gone) {
	list := s.WhyNot.Shortages[:0]
	for slot, amount := range s.Request.Amounts {
		if amount == 0 {
			continue
		}
		if a, bound := s.View.Available(gone, s.Request.Queue, slot); amount > a {
			list = append(list, Shortage{slot, quota.Sub(amount, a), bound})
		}
	}
	s.WhyNot.Shortages = list
}
