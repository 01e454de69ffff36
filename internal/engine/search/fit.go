package search

import "github.com/cedesched/cede/quota"

// available is what the queue can still take (see quotatree.Usage.Available), and the
// nearest node whose quota or limit is the bound. The recursion over the parents is
// unrolled: each node bounds the sum of what is left of the local quotas below and
// what may come through it.
func (s *scratch) available(v view, queue, slot int) (amount int64, bound int) {
	amount, bound = quota.Unlimited, queue
	local := int64(0)
	for n := queue; ; {
		c := &s.node(n)[slot]
		parent := s.tree.Parent(n)
		through := quota.Sub(c.SubtreeQuota, c.usage[v])
		if parent >= 0 {
			local = quota.Add(local, c.LocalAvailable(c.usage[v]))
			through = c.FromParent(c.usage[v])
		}
		if a := quota.Add(local, through); a < amount {
			amount, bound = a, n
		}
		if parent < 0 {
			return amount, bound
		}
		n = parent
	}
}

// fits reports whether the whole request fits. Without borrowing it must fit in the
// queue's nominal quota as well. The room, where there is one, is asked last: it costs more.
func (s *Searcher) fits(borrowing bool) bool {
	return s.fitsIn(victims, borrowing) && (s.request.Room == nil || s.request.Room.Fits())
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
			available, _ := s.scratch.available(victims, s.request.Queue, slot)
			needs = amount > available
		}
		s.request.Needs[slot] = needs
		fits = fits && !needs
	}
	return fits
}

func (s *Searcher) fitsIn(v view, borrowing bool) bool {
	cells := s.scratch.node(s.request.Queue)
	for slot, amount := range s.request.Amounts {
		if amount == 0 {
			continue
		}
		if !borrowing && quota.Add(cells[slot].usage[v], amount) > cells[slot].Nominal {
			return false
		}
		if a, _ := s.scratch.available(v, s.request.Queue, slot); amount > a {
			return false
		}
	}
	return true
}

// overPotential reports whether the request is more than there is, whoever leaves.
func (s *Searcher) overPotential() bool {
	for slot, amount := range s.request.Amounts {
		if amount > s.scratch.tree.PotentialAvailable(s.request.Queue, s.request.Columns[slot]) {
			return true
		}
	}
	return false
}

// withinNominal reports whether a node borrows none of what needs preemption.
func (s *Searcher) withinNominal(node int) bool {
	cells := s.scratch.node(node)
	for slot, needs := range s.request.Needs {
		if needs && !cells[slot].WithinNominal(cells[slot].usage[victims]) {
			return false
		}
	}
	return true
}

// underNominal reports whether the preemptor's queue is strictly under its nominal
// quota in all that needs preemption.
func (s *Searcher) underNominal() bool {
	cells := s.scratch.node(s.request.Queue)
	for slot, needs := range s.request.Needs {
		if needs && cells[slot].usage[victims] >= cells[slot].Nominal {
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
		height = max(height, s.borrowHeightOf(slot, amount))
	}
	return height
}

func (s *Searcher) borrowHeightOf(slot int, amount int64) int {
	queue := s.request.Queue
	n := s.scratch.tree.Parent(queue)
	c := &s.scratch.node(queue)[slot]
	if n < 0 || quota.Add(c.usage[victims], amount) <= c.Nominal {
		return 0
	}
	rest := quota.Sub(amount, c.LocalAvailable(c.usage[victims]))
	for {
		c := &s.scratch.node(n)[slot]
		parent := s.scratch.tree.Parent(n)
		if parent < 0 || quota.Add(c.usage[victims], rest) <= c.SubtreeQuota {
			return s.scratch.tree.Height(n)
		}
		rest = quota.Sub(rest, c.LocalAvailable(c.usage[victims]))
		n = parent
	}
}

// Shortage is what a slot lacks, and the node that bounds it.
type Shortage struct {
	Slot    int
	Missing int64
	Bound   int
}

// listShortages lists what does not fit.
func (s *Searcher) listShortages(v view, into []Shortage) []Shortage {
	for slot, amount := range s.request.Amounts {
		if amount == 0 {
			continue
		}
		if a, bound := s.scratch.available(v, s.request.Queue, slot); amount > a {
			into = append(into, Shortage{slot, quota.Sub(amount, a), bound})
		}
	}
	return into
}
