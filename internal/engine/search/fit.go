package search

import (
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

// FitsAtFirst reports whether the request fits without victims. If asked to, it finds what
// needs preemption: the slots that do not fit or, if there is no room, all slots with an
// amount.
func (s *Search) FitsAtFirst() bool {
	roomy := s.Request.Room == nil || s.Request.Room.Fits()
	fits := roomy
	s.Trials++
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
	if s.Request.FindNeeds {
		s.Needs = s.needs
	}
	return fits
}

// Fits reports whether the whole request fits without the victims. Without borrowing it must
// also fit in the queue's nominal quota. The room, if any, is asked last, because it costs
// more. In an attempt that takes all candidates it never fits.
func (s *Search) Fits(m source.Mode) bool {
	return !m.All && s.fitsIn(usage.Victims, m.Borrowing) && s.hasRoom()
}

// QuotaFits reports whether the quota suffices without the victims; the queue may borrow.
func (s *Search) QuotaFits() bool { return s.fitsIn(usage.Victims, true) }

// fitsIn is Fits for quota alone, with another kind of removed workloads.
func (s *Search) fitsIn(gone usage.Gone, borrowing bool) bool {
	return FitsIn(s, &s.View, gone, borrowing)
}

// FitsIn is Fits for quota alone, in any view that begins with the requested columns.
func FitsIn(s *Search, view *usage.View, gone usage.Gone, borrowing bool) bool {
	s.Trials++
	cells := view.Cells(s.Request.Queue)
	for slot, amount := range s.Request.Amounts {
		if amount == 0 {
			continue
		}
		if s.StaysNominal(slot, borrowing) && quota.Add(cells[slot].Used(gone), amount) > cells[slot].Nominal {
			return false
		}
		if a, _ := view.Available(gone, s.Request.Queue, slot); amount > a {
			return false
		}
	}
	return true
}

// StaysNominal reports whether the request must stay within the queue's nominal quota in a slot. It must
// in an attempt without borrowing; with WithinNominal in what needs preemption, and only there.
func (s *Search) StaysNominal(slot int, borrowing bool) bool {
	if s.Request.WithinNominal {
		return s.Needs[slot]
	}
	return !borrowing
}

// OverPotential reports whether the request is over what could ever be available.
func (s *Search) OverPotential() bool {
	for slot, amount := range s.Request.Amounts {
		if amount > s.View.Potential(s.Request.Queue, slot) {
			return true
		}
	}
	return false
}

// underNominal reports whether the preemptor's queue uses strictly less than its nominal
// quota in all columns that need preemption.
func (s *Search) underNominal() bool {
	cells := s.View.Cells(s.Request.Queue)
	for slot, needed := range s.Needs {
		if needed && cells[slot].Used(usage.Victims) >= cells[slot].Nominal {
			return false
		}
	}
	return true
}

// BorrowHeight returns the largest borrow height of the request's columns without the
// victims; see [usage.View.BorrowHeight].
func (s *Search) BorrowHeight() int {
	height := 0
	for slot, amount := range s.Request.Amounts {
		height = max(height, s.View.BorrowHeight(s.Request.Queue, slot, amount))
	}
	return height
}

// AppendShort appends the slots that do not fit without the workloads of a kind.
func (s *Search) AppendShort(list []Shortage, gone usage.Gone, staysNominal func(slot int) bool) []Shortage {
	cells := s.View.Cells(s.Request.Queue)
	for slot, amount := range s.Request.Amounts {
		if amount == 0 {
			continue
		}
		if a, bound := s.View.Available(gone, s.Request.Queue, slot); amount > a {
			list = append(list, Shortage{Slot: slot, Missing: quota.Sub(amount, a), Bound: bound})
		} else if over := quota.Sub(quota.Add(cells[slot].Used(gone), amount), cells[slot].Nominal); over > 0 && staysNominal(slot) {
			list = append(list, Shortage{Slot: slot, Missing: over, Bound: s.Request.Queue})
		}
	}
	return list
}

// noteShortages records the slots that do not fit.
func (s *Search) noteShortages(gone usage.Gone) {
	s.WhyNot.Shortages = s.AppendShort(s.WhyNot.Shortages[:0], gone, func(slot int) bool { return s.Request.WithinNominal && s.Needs[slot] })
}
