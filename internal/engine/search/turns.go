package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

// What a running workload may count on is asked without a request that is there: its turn comes after those that
// yield before it, and a request that they make room for does not name it.

// DonorOf returns a queue as a donor; ok is false if the policies permit none of its workloads. The levels
// must be known.
func DonorOf(s *Search, queue int) (d right.Donor, ok bool) {
	if queue == s.Request.Queue {
		return s.OwnDonor()
	}
	common := s.Common(queue)
	for i := range s.Levels {
		if l := &s.Levels[i]; l.Cohort == common {
			return s.DonorAt(l, queue), true
		}
	}
	return d, false
}

// RightEnds returns, for the queue and each cohort above it below the root, the largest amount of the first
// column that fits in its quota: with one more the queue loses its advantage there.
func RightEnds(s *Search) (list []int64) {
	held := int64(0) // in the local quotas below
	for n := s.Request.Queue; n >= 0; n = s.View.Tree.Parent(n) {
		cell := &s.View.Cells(n)[0]
		used := cell.Used(usage.Victims)
		if used <= cell.SubtreeQuota {
			list = append(list, quota.Add(quota.Sub(cell.SubtreeQuota, used), held))
		}
		held = quota.Add(held, cell.LocalAvailable(used))
	}
	return list
}

// OthersHoldNominal reports whether other queues hold, in a slot, what is left of the queue's nominal quota, which
// may be negative. If not, an attempt without borrowing needs none of theirs: what victims of the own queue
// free is free for both.
func OthersHoldNominal(s *Search, slot int) bool {
	available, _ := s.View.Available(usage.Victims, s.Request.Queue, slot)
	cell := &s.View.Cells(s.Request.Queue)[slot]
	return available < quota.Sub(cell.Nominal, cell.Used(usage.Victims))
}

// EachTurn takes the candidates of an attempt in order until every amount of the first column up to high fits, and puts them
// back. It yields each, except what is leaving, with the least amount from low on that fits only once it is taken; 0: none. It returns
// the least amount that does not fit in the attempt.
func EachTurn(s *Search, m source.Mode, low, high int64, yield func(v *right.Victim, amount int64)) (next int64) {
	before := most(s, m)
	for phase := range source.Phases {
		s.Source.Open(&s.Case, phase, m)
		for before < high {
			v, ok := s.Source.Next(&s.Case)
			if !ok {
				break
			}
			s.Take(v)
			after, amount := most(s, m), max(low, quota.Add(before, 1))
			if after < amount {
				amount = 0
			}
			if !v.Workload.Facts.Evicted {
				yield(&v, amount)
			}
			before = after
		}
	}
	s.PutAllBack()
	return max(low, quota.Add(before, 1))
}

// mostTurns is how many later turns are looked at, and mostPieces how many amounts in each, of at most so many victims.
const (
	mostTurns  = 32
	mostPieces = 64
)

// Turns takes all candidates of an attempt in order, whether or not the request fits, and puts them back. It appends the
// amounts of the first column from which on others are put back, from the turn of a workload on: in the first turns, and the last one.
// reached is false if its turn never comes.
func Turns(s *Search, list []int64, m source.Mode, w *cluster.Workload) (all []int64, reached bool) {
	before, turns := most(s, m), 0
	for phase := range source.Phases {
		s.Source.Open(&s.Case, phase, m)
		for v, ok := s.Source.Next(&s.Case); ok; v, ok = s.Source.Next(&s.Case) {
			if v.Workload.Is(w) && !v.Workload.Facts.Evicted && !reached {
				reached = true
			}
			s.Take(v)
			after := most(s, m)
			if reached && after > before && turns < mostTurns {
				list = appendPieces(s, list, m, quota.Add(before, 1), after)
				turns++
			}
			before = after
		}
	}
	s.PutAllBack()
	if reached {
		list = append(list, before)
	}
	return list, reached
}

// appendPieces appends the amounts from low to high at which others of the victims taken so far are put back than with one less, one by one.
func appendPieces(s *Search, list []int64, m source.Mode, low, high int64) []int64 {
	if len(s.Taken) > mostPieces {
		return append(list, low, high)
	}
	for range mostPieces {
		list = append(list, low)
		next, back := high, []int(nil)
		for i := len(s.Taken) - 2; i >= 0; i-- {
			v := s.Taken[i]
			s.Move(&v, 1, s.Taken[:i])
			if fits := most(s, m); fits >= low {
				next, back = min(next, fits), append(back, i)
			} else {
				s.Move(&v, -1, s.Taken[:i])
			}
		}
		for _, i := range slices.Backward(back) {
			v := s.Taken[i]
			s.Move(&v, -1, s.Taken[:i])
		}
		if low = quota.Add(next, 1); low > high {
			break
		}
	}
	return list
}

// most returns the largest amount of the first column that fits without the victims.
func most(s *Search, m source.Mode) int64 {
	fits, _ := s.View.Available(usage.Victims, s.Request.Queue, 0)
	if s.StaysNominal(0, m.Borrowing) {
		cell := &s.View.Cells(s.Request.Queue)[0]
		fits = min(fits, quota.Sub(cell.Nominal, cell.Used(usage.Victims)))
	}
	return fits
}
