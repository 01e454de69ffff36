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

// RightEnds returns, for the queue and each cohort above it, the largest amount of a slot that fits in its quota: with
// one more the queue loses its advantage there. all is false if one of them is over its quota, so that it has no end.
func RightEnds(s *Search, slot int) (list []int64, all bool) {
	held, all := int64(0), true // in the local quotas below
	for n := s.Request.Queue; n >= 0; n = s.View.Tree.Parent(n) {
		cell := &s.View.Cells(n)[slot]
		used := cell.Used(usage.Victims)
		if used <= cell.SubtreeQuota {
			list = append(list, quota.Add(quota.Sub(cell.SubtreeQuota, used), held))
		} else {
			all = false
		}
		held = quota.Add(held, cell.LocalAvailable(used))
	}
	return list, all
}

// OthersHoldNominal reports whether other queues hold, in a slot, what is left of the queue's nominal quota, which
// may be negative. If not, an attempt without borrowing needs none of theirs: what victims of the own queue
// free is free for both.
func OthersHoldNominal(s *Search, slot int) bool {
	available, _ := s.View.Available(usage.Victims, s.Request.Queue, slot)
	cell := &s.View.Cells(s.Request.Queue)[slot]
	return available < quota.Sub(cell.Nominal, cell.Used(usage.Victims))
}

// Box is a range of amounts for each slot, in which the rights of a request are the same.
type Box struct{ Low, High []int64 }

// EachTurn takes the candidates of an attempt in order until every amount of the box fits, and puts them back. It tells of each that comes
// before something fits, except what is leaving, with the least amounts of the box that fit only once it is taken, and did not fit in an
// attempt before; nil: there are none. It returns the most that fits in the attempt, by slot, and whether more candidates are wanted.
func EachTurn(s *Search, m source.Mode, box Box, earlier []int64, t *Telling) (fits []int64, more bool) {
	before, after := allMost(s, nil, m), []int64(nil)
	limits, told := slices.Clone(box.High), 0
	_, own := s.OwnDonor()
	for slot := range limits {
		if cell := &s.View.Cells(s.Request.Queue)[slot]; s.StaysNominal(slot, m.Borrowing) {
			limit := cell.Nominal
			if !own { // nothing of it becomes free
				limit = quota.Sub(limit, cell.Used(usage.Victims))
			}
			if limits[slot] = min(limits[slot], limit); limit < box.Low[slot] {
				return before, true
			}
		}
	}
	defer s.PutAllBack()
	t.First, t.waiting = earlier == nil, t.waiting[:0]
	for phase := range source.Phases {
		s.Source.Open(&s.Case, phase, m)
		for anyLess(before, limits) {
			v, ok := s.Source.Next(&s.Case)
			if !ok {
				break
			}
			t.Looked++
			s.Take(v)
			after = allMost(s, after[:0], m)
			if amounts := box.least(before, after, earlier); amounts != nil {
				for last := len(s.Taken) - 1; told <= last; told++ {
					of := amounts
					if told < last {
						of = nil
					}
					if !t.tell(s, told, of) {
						return before, false
					}
				}
				if !t.putBack(s, m, amounts[0], min(after[0], box.High[0])) {
					return before, false
				}
			}
			before, after = after, before
		}
	}
	return before, t.tellIdle(s, told)
}

// least returns the least amounts of the box that fit after a victim, but neither before it nor earlier; nil: there are none.
func (b *Box) least(before, after, earlier []int64) []int64 {
	at, beyond := -1, -1
	for slot, low := range b.Low {
		high := min(after[slot], b.High[slot])
		if high < low {
			return nil
		}
		if at < 0 && before[slot] < high {
			at = slot
		}
		if beyond < 0 && earlier != nil && earlier[slot] < high {
			beyond = slot
		}
	}
	if at < 0 || earlier != nil && beyond < 0 {
		return nil
	}
	amounts := slices.Clone(b.Low)
	amounts[at] = max(amounts[at], quota.Add(before[at], 1))
	if beyond >= 0 {
		amounts[beyond] = max(amounts[beyond], quota.Add(earlier[beyond], 1))
	}
	return amounts
}

// EachReached takes the candidates of another queue, or of all queues below a cohort, with all that an attempt without borrowing permits,
// until they have nothing to reclaim, yields them, and puts them back.
func EachReached(s *Search, l *right.Level, node int, yield func(*right.Victim)) {
	defer s.PutAllBack()
	for phase := range source.Phases {
		s.Source.OpenUnder(&s.Case, phase, l, node)
		for v, ok := s.Source.Next(&s.Case); ok; v, ok = s.Source.Next(&s.Case) {
			s.Take(v)
			yield(&v)
		}
	}
}

const (
	// mostTurns is how many later turns are looked at, and mostPieces how many amounts in each.
	mostTurns  = 32
	mostPieces = 64
	// mostMoves is how many victims are put back in a turn, for more than leastPieces amounts.
	mostMoves   = 1 << 16
	leastPieces = 4
)

// Turns takes all candidates of an attempt in order, whether or not the request fits, and puts them back. It appends the
// amounts of the first column from which on others are put back, from the turn of a workload on: in the first turns, and the last one.
// reached is false if its turn never comes.
func Turns(s *Search, list []int64, m source.Mode, w *cluster.Workload) (all []int64, reached bool) {
	before, turns := most(s, m, 0), 0
	for phase := range source.Phases {
		s.Source.Open(&s.Case, phase, m)
		for v, ok := s.Source.Next(&s.Case); ok; v, ok = s.Source.Next(&s.Case) {
			if v.Workload.Is(w) && !v.Workload.Facts.Evicted && !reached {
				reached = true
			}
			s.Take(v)
			after := most(s, m, 0)
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

// appendPieces appends the amounts from low to high at which others of the victims taken so far are put back than with one less, one
// by one.
func appendPieces(s *Search, list []int64, m source.Mode, low, high int64) []int64 {
	if len(s.Taken) > mostPieces {
		return append(list, low, high)
	}
	for n := 0; n < mostPieces && low <= high; n++ {
		list = append(list, low)
		next := high
		putBackFor(s, m, low, 0, func(_ int, fits int64) {
			if fits >= low {
				next = min(next, fits)
			}
		})
		low = quota.Add(next, 1)
	}
	return list
}

// most returns the largest amount of a slot that fits without the victims.
func most(s *Search, m source.Mode, slot int) int64 {
	fits, _ := s.View.Available(usage.Victims, s.Request.Queue, slot)
	if s.StaysNominal(slot, m.Borrowing) {
		cell := &s.View.Cells(s.Request.Queue)[slot]
		fits = min(fits, quota.Sub(cell.Nominal, cell.Used(usage.Victims)))
	}
	return fits
}

// allMost appends most of every slot.
func allMost(s *Search, list []int64, m source.Mode) []int64 {
	for slot := range s.Request.Columns {
		list = append(list, most(s, m, slot))
	}
	return list
}

func anyLess(a, b []int64) bool {
	for i := range a {
		if a[i] < b[i] {
			return true
		}
	}
	return false
}
