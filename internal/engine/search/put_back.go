package search

import (
	"slices"

	"github.com/cedesched/cede/internal/base/least"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Justified reports whether the victims that remain, those not looked at yet (others) and those found to
// be needed, are justified when v is put back. They were with v among them.
type Justified func(v *right.Victim, others, needed []right.Victim) bool

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
	s.Tried, s.Borrowing = 0, borrowing
	for i := range s.Taken {
		s.Tried += int(s.Taken[i].Count)
	}
	for again := true; again && len(s.Taken) > 1; {
		spared, refused := s.putBackOnce(source.Mode{Borrowing: borrowing}, justified)
		again = spared && refused
	}
}

// putBackOnce looks once at each victim except the last one taken, which is needed: the request did not fit without it,
// or without one of its replicas. Replicas stay taken if the rest of their workload is. spared: something was put back;
// refused: some victim stays taken only because the others are not justified without it.
func (s *Search) putBackOnce(m source.Mode, justified Justified) (spared, refused bool) {
	all := s.Taken
	needed := len(all) - 1
	s.wholes.list = s.wholes.list[:0]
	s.wholes.add(&all[needed])
	var asked *cluster.Workload // the rest of it was looked at before its replicas
	whole := false
	for i := len(all) - 2; i >= 0; i-- {
		v := all[i]
		if v.Partial() && v.Workload != asked {
			asked, whole = v.Workload, s.wholes.has(v.Workload)
		}
		if !v.Partial() || !whole {
			n, unjust := putSomeBack(s, i, needed, m, justified)
			spared, refused = spared || n > 0, refused || unjust
			if n == v.Count {
				continue
			}
			v.Count -= n
		}
		needed--
		all[needed] = v
		s.wholes.add(&v)
	}
	s.Taken = append(all[:0], all[needed:]...) // keeps the capacity
	return spared, refused
}

// putSomeBack puts a victim back, or as many of its replicas as can be, and returns how many; unjust: only because the
// others are not justified without it no more are. What is put back keeps the request from fitting, and others from
// being justified, the more the more it is.
func putSomeBack(s *Search, i, needed int, m source.Mode, justified Justified) (n int64, unjust bool) {
	v, earlier := s.Taken[i], s.Taken[:i] // the victims that the workload was taken beside
	back := int64(0)
	move := func(to int64) {
		of, times := v, int64(1)
		if of.Count = to - back; of.Count < 0 {
			of.Count, times = -of.Count, -1
		}
		s.Move(&of, times, earlier)
		back = to
	}
	n = least.Most(v.Count, func(n int64) bool {
		move(n)
		others := s.Taken[needed:]
		if n < v.Count {
			others = s.Taken[needed-1:]
			others[0] = v
			others[0].Count -= n
		}
		unjust = s.Fits(m)
		return unjust && (justified == nil || justified(&s.Taken[i], earlier, others))
	})
	if back != n {
		move(n)
	}
	if t := s.Request.Trace; t != nil && n > 0 {
		of := v
		of.Count = n
		t.Add(right.StepOf(trace.PutBack, &of))
	}
	return n, unjust && n < v.Count
}

// Remaining returns the victims that remain when one is put back. A workload that yields as a
// whole is one victim: replicas of its surplus taken before are part of it. The list is valid until
// the next call.
func (s *Search) Remaining(others, needed []right.Victim) []right.Victim {
	s.remaining = s.remaining[:0]
	var asked *cluster.Workload // replicas of one workload come together
	whole := false
	for _, list := range [...][]right.Victim{others, needed} {
		for i := range list {
			v := &list[i]
			if v.Partial() && v.Workload != asked {
				asked, whole = v.Workload, right.GoesWhole(v.Workload, others) || right.GoesWhole(v.Workload, needed)
			}
			if !v.Partial() || !whole {
				s.remaining = append(s.remaining, *v)
			}
		}
	}
	return s.remaining
}

// PutRoomBack puts the victims back on their nodes; their quota stays removed.
func (s *Search) PutRoomBack() {
	for i := range s.Taken {
		if s.Request.Room != nil {
			s.room.move(s.Request.Room, &s.Taken[i], 1)
		}
	}
}

// wholes are workloads that yield as a whole, and of which a part could yield alone.
type wholes struct {
	list []*cluster.Workload
	byID map[string]bool // of more than fewWholes
}

// fewWholes is how many are looked through one by one.
const fewWholes = 16

func (k *wholes) add(v *right.Victim) {
	if v.Partial() || !v.Workload.Divides() {
		return
	}
	if k.list = append(k.list, v.Workload); len(k.list) == fewWholes+1 {
		k.byID = map[string]bool{}
		for _, w := range k.list {
			k.byID[w.Facts.ID] = true
		}
	} else if len(k.list) > fewWholes {
		k.byID[v.Workload.Facts.ID] = true
	}
}

func (k *wholes) has(w *cluster.Workload) bool {
	if len(k.list) > fewWholes {
		return k.byID[w.Facts.ID]
	}
	return slices.ContainsFunc(k.list, w.Is)
}
