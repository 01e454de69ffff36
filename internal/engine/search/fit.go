package search

import (
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

// fits reports whether the whole request fits. Without borrowing it must fit in the
// queue's nominal quota as well. The room, where there is one, is asked last: it costs more.
func (s *Searcher) fits(borrowing bool) bool {
	return s.fitsIn(usage.Victims, borrowing) && (s.request.Room == nil || s.request.Room.Fits())
}

// fitsAtFirst reports whether the request fits with nobody gone, and finds what needs
// preemption.
func (s *Searcher) fitsAtFirst() bool {
	if !s.request.FindNeeds {
		return s.fits(true)
	}
	roomy := s.request.Room == nil || s.request.Room.Fits()
	fits := roomy
	for slot, amount := range s.request.Amounts {
		needs := amount > 0
		if needs && roomy {
			available, _ := s.view.Available(usage.Victims, s.request.Queue, slot)
			needs = amount > available
		}
		s.request.Needs[slot] = needs
		fits = fits && !needs
	}
	return fits
}

func (s *Searcher) fitsIn(v usage.Gone, borrowing bool) bool {
	cells := s.view.Cells(s.request.Queue)
	for slot, amount := range s.request.Amounts {
		if amount == 0 {
			continue
		}
		if !borrowing && quota.Add(cells[slot].Used(v), amount) > cells[slot].Nominal {
			return false
		}
		if a, _ := s.view.Available(v, s.request.Queue, slot); amount > a {
			return false
		}
	}
	return true
}

// overPotential reports whether the request is more than there is, whoever leaves.
func (s *Searcher) overPotential() bool {
	for slot, amount := range s.request.Amounts {
		if amount > s.view.Potential(s.request.Queue, slot) {
			return true
		}
	}
	return false
}

// underNominal reports whether the preemptor's queue is strictly under its nominal
// quota in all that needs preemption.
func (s *Searcher) underNominal() bool {
	cells := s.view.Cells(s.request.Queue)
	for slot, needs := range s.request.Needs {
		if needs && cells[slot].Used(usage.Victims) >= cells[slot].Nominal {
			return false
		}
	}
	return true
}

// borrowHeight is the largest over the request's columns of: 0 within nominal quota
// or without cohort; else the height of the lowest cohort whose quota holds what is
// left of the amount after the local quotas below it; the root's when none does.
func (s *Searcher) borrowHeight() int {
	height := 0
	for slot, amount := range s.request.Amounts {
		height = max(height, s.view.BorrowHeight(s.request.Queue, slot, amount))
	}
	return height
}

// Shortage is what a slot lacks, and the node that bounds it.
type Shortage struct {
	Slot    int
	Missing int64
	Bound   int
}

// listShortages lists what does not fit.
func (s *Searcher) listShortages(v usage.Gone, into []Shortage) []Shortage {
	for slot, amount := range s.request.Amounts {
		if amount == 0 {
			continue
		}
		if a, bound := s.view.Available(v, s.request.Queue, slot); amount > a {
			into = append(into, Shortage{slot, quota.Sub(amount, a), bound})
		}
	}
	return into
}
