package search

import "github.com/cedesched/cede/internal/engine/cluster"

// PutBack puts back, latest first, each victim without which the request still fits (the
// field's word is reprieve; KEP-83, Preemption, step 5). Where justified is given, it must
// also hold for those who are then gone: the others that have not been looked at, and those
// that were found to be needed.
//
// One look at each victim is enough, but where justified is given: when another one is put
// back, that may justify what was not before. In the end no part of the victims would do.
// Of what could be put back together, those through the farthest cohort could be put back
// first, one by one, as they justify nobody else.
func (s *Search) PutBack(borrowing bool, justified func(others, needed []Victim) bool) {
	for before := len(s.Taken) + 1; before > len(s.Taken) && len(s.Taken) > 1; {
		before = len(s.Taken)
		s.putBackOnce(borrowing, justified)
		if justified == nil {
			return
		}
	}
}

// putBackOnce looks once at each victim but the last one taken, which is needed: it did
// not fit without. Replicas stay taken when the rest of their workload is.
func (s *Search) putBackOnce(borrowing bool, justified func(others, needed []Victim) bool) {
	needed := len(s.Taken) - 1
	all := s.Taken
	for i := len(all) - 2; i >= 0; i-- {
		v := all[i]
		s.Taken = all[:i] // what a whole workload left without
		if !(v.Set >= 0 && GoesWhole(v.Workload, all[needed:])) {
			s.Move(v, 1)
			if s.Fits(borrowing) && (justified == nil || justified(all[:i], all[needed:])) {
				continue
			}
			s.Move(v, -1)
		}
		needed--
		all[needed] = v
	}
	s.Taken = append(all[:0], all[needed:]...) // keeps the capacity
}

// GoesWhole reports whether a workload is among victims as a whole.
func GoesWhole(w *cluster.Workload, victims []Victim) bool {
	for i := range victims {
		if victims[i].Workload == w && victims[i].Set < 0 {
			return true
		}
	}
	return false
}

// PutRoomBack puts the victims back on their nodes; they stay taken of the quota.
func (s *Search) PutRoomBack() {
	if s.Request.Room == nil {
		return
	}
	for i := range s.Taken {
		if s.Taken[i].Set < 0 {
			s.Request.Room.Restore(s.Taken[i].Workload.Facts.ID)
		}
	}
}
