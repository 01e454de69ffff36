package search

import "github.com/cedesched/cede/internal/engine/cluster"

// Justified reports whether the victims that remain, those not looked at yet (others) and those found to
// be needed, are justified when v is put back. They were with v among them.
type Justified func(v *Victim, others, needed []Victim) bool

// PutBack puts back, latest first, each victim without which the request still fits (the
// field's word is reprieve; KEP-83, Preemption, step 5). If justified is given, it must also
// hold for the victims that remain.
//
// One look at each victim is enough without justified. With it, a victim that is put back may
// justify another one that was not justified before, so the looks are repeated. In the end no
// smaller part of the victims is enough: if several could be put back together, the ones
// through the farthest cohort could be put back first, one by one, since they justify no
// others.
func (s *Search) PutBack(borrowing bool, justified Justified) {
	s.Tried, s.Borrowing = len(s.Taken), borrowing
	for again := true; again && len(s.Taken) > 1; {
		before := len(s.Taken)
		refused := s.putBackOnce(borrowing, justified)
		again = refused && len(s.Taken) < before
	}
}

// putBackOnce looks once at each victim except the last one taken, which is needed: the
// request did not fit without it. Replicas stay taken if the rest of their workload is. refused: some
// victim stays taken only because the others are not justified without it.
func (s *Search) putBackOnce(borrowing bool, justified Justified) (refused bool) {
	needed := len(s.Taken) - 1
	all := s.Taken
	for i := len(all) - 2; i >= 0; i-- {
		v := all[i]
		s.Taken = all[:i] // what the whole workload had less when it was taken
		if !(v.Partial() && GoesWhole(v.Workload, all[needed:])) {
			s.Move(v, 1)
			fits := s.Fits(borrowing)
			spared := fits && (justified == nil || justified(&all[i], all[:i], all[needed:]))
			if t := s.Request.Trace; t != nil {
				t.Add(putBack(&v, fits, spared))
			}
			if spared {
				continue
			}
			refused = refused || fits
			s.Move(v, -1)
		}
		needed--
		all[needed] = v
	}
	s.Taken = append(all[:0], all[needed:]...) // keeps the capacity
	return refused
}

// GoesWhole reports whether a workload is among the victims as a whole.
func GoesWhole(w *cluster.Workload, victims []Victim) bool {
	for i := range victims {
		if victims[i].Workload.Is(w) && !victims[i].Partial() {
			return true
		}
	}
	return false
}

// Replay judges the victims that remain when one is put back, with them as those taken. All of them
// are gone. A workload that yields as a whole is one victim: replicas of its surplus taken before
// are part of it. judge must leave the usage as it is.
func (s *Search) Replay(others, needed []Victim, judge func(victims []Victim) bool) bool {
	s.replay = s.replay[:0]
	for _, list := range [...][]Victim{others, needed} {
		for _, v := range list {
			if !v.Partial() || !GoesWhole(v.Workload, others) && !GoesWhole(v.Workload, needed) {
				s.replay = append(s.replay, v)
			}
		}
	}
	kept := s.Taken
	s.Taken = s.replay
	justified := judge(s.replay)
	s.Taken = kept
	return justified
}
