package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/quota"
)

// Telling is what [EachTurn] tells.
type Telling struct {
	// Only is what is told of; nil: all.
	Only *cluster.Workload
	// PutsBack: what comes before others is told of again, with the least amount of the one column at which it stays taken.
	PutsBack bool
	// To is told of a victim. It returns false to end.
	To func(v *right.Victim, amounts []int64, how Told) bool
	// First: it tells of the first attempt for some amounts.
	First bool
	// Looked is how many candidates were looked at.
	Looked int

	waiting []waiting
}

// Told is how a victim is told of.
type Told uint8

const (
	// Taken: it is the last that is taken, or without amounts comes before others, or stays taken.
	Taken Told = iota
	// Cut: too much would have to be looked at to know whether it stays taken.
	Cut
	// Idle: no more fits with it, nor with those after it.
	Idle
)

// waiting is one of the victims, of which no amount is known at which it stays taken, and in how many turns it was looked for.
type waiting struct{ at, turns int }

// tell tells of a victim, with its amounts as the last that is taken; nil: it comes before others.
func (t *Telling) tell(s *Search, at int, amounts []int64) bool {
	v := &s.Taken[at]
	if !t.wants(v) {
		return true
	}
	if amounts == nil && t.PutsBack {
		t.waiting = append(t.waiting, waiting{at, 0})
	} else {
		t.forget(s, v)
	}
	return t.To(v, amounts, Taken)
}

// forget waits no longer for a workload, of which replicas may be victims beside the rest.
func (t *Telling) forget(s *Search, v *right.Victim) {
	if len(v.Workload.Surplus) > 0 {
		t.waiting = slices.DeleteFunc(t.waiting, func(w waiting) bool { return s.Taken[w.at].Workload.Is(v.Workload) })
	}
}

func (t *Telling) wants(v *right.Victim) bool {
	return (t.Only == nil || v.Workload.Is(t.Only)) && !v.Workload.Facts.Evicted
}

// tellIdle tells of the last victims.
func (t *Telling) tellIdle(s *Search, from int) bool {
	for i := from; i < len(s.Taken); i++ {
		if v := &s.Taken[i]; t.wants(v) && !t.To(v, nil, Idle) {
			return false
		}
	}
	return true
}

// putBack puts victims back, as a decision does, for each amount from low to high, and tells of those that wait and stay taken.
func (t *Telling) putBack(s *Search, m source.Mode, low, high int64) bool {
	more, pieces := true, min(mostPieces, max(leastPieces, mostMoves/len(s.Taken)))
	for ; len(t.waiting) > 0 && low <= high && pieces > 0; pieces-- {
		next, last, stay := high, len(t.waiting)-1, []int(nil)
		putBackFor(s, m, low, t.waiting[0].at, func(i int, fits int64) {
			for last >= 0 && t.waiting[last].at > i {
				last--
			}
			if fits >= low {
				next = min(next, fits)
			} else if last >= 0 && t.waiting[last].at == i {
				stay = append(stay, i)
			}
		})
		for _, i := range stay {
			more = t.To(&s.Taken[i], []int64{low}, Taken) && more
			t.forget(s, &s.Taken[i])
		}
		t.waiting = slices.DeleteFunc(t.waiting, func(w waiting) bool { return slices.Contains(stay, w.at) })
		low = quota.Add(next, 1)
	}
	for i := range t.waiting {
		t.waiting[i].turns++
	}
	cut := func(w waiting) bool { return low <= high || w.turns == mostTurns }
	for _, w := range t.waiting {
		if cut(w) {
			more = t.To(&s.Taken[w.at], nil, Cut) && more
		}
	}
	t.waiting = slices.DeleteFunc(t.waiting, cut)
	return more
}

// putBackFor puts victims back, the latest but one first, down to one of them, without which an amount of the first column still fits, as
// [Search.PutBack] does, and takes them again. It yields what fits without each; replicas of a workload that yields as a whole stay.
func putBackFor(s *Search, m source.Mode, amount int64, to int, yield func(i int, fits int64)) {
	var back []int
	s.wholes.list = s.wholes.list[:0]
	s.wholes.add(&s.Taken[len(s.Taken)-1])
	for i := len(s.Taken) - 2; i >= to; i-- {
		v := s.Taken[i]
		if v.Partial() && s.wholes.has(v.Workload) {
			continue
		}
		s.Move(&v, 1, s.Taken[:i])
		fits := most(s, m, 0)
		if yield(i, fits); fits >= amount {
			back = append(back, i)
		} else {
			s.Move(&v, -1, s.Taken[:i])
			s.wholes.add(&v)
		}
	}
	for _, i := range slices.Backward(back) {
		v := s.Taken[i]
		s.Move(&v, -1, s.Taken[:i])
	}
}
