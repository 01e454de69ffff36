package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Mode says how an attempt is made. The zero value: without borrowing, in the usual order.
type Mode struct {
	// Borrowing: the request may take its queue over its nominal quota.
	Borrowing bool
	// LargestFirst: in a phase, candidates of other queues are ordered by how much of the
	// request they free, most first.
	LargestFirst bool
}

// Find makes the attempts of classical sharing: with borrowing if the queue may, then
// without. It stops at the first that succeeds, even if a later one would need fewer victims.
func (s *Search) Find(largestFirst bool) bool {
	return s.plan(func(borrowing bool) bool { return s.attempt(Mode{borrowing, largestFirst}) })
}

// TakeAll takes everybody that an attempt with borrowing permits.
func (s *Search) TakeAll() {
	s.Exhaust = true
	s.attempt(Mode{Borrowing: true})
	s.Exhaust = false
}

// BeginRules notes that an attempt by rules begins before which policies take nobody.
func (s *Search) BeginRules() {
	if t := s.Request.Trace; t != nil {
		t.Add(trace.Step{Kind: trace.AttemptBegins, Borrowing: true, ByRules: true})
	}
}

// FailRules is [Search.Fail] of such an attempt. If a bound refused the request, what is short was
// recorded; Victims: none did.
func (s *Search) FailRules(by usage.Gone) {
	if by == usage.Victims { // by rules alone
		s.WhyNot.NoRoom = s.Request.Room != nil && s.QuotaFits()
		s.noteShortages(usage.Victims)
	}
	s.PutAllBack()
	if t := s.Request.Trace; t != nil {
		if by != usage.Victims {
			bound := traceBound[by]
			if s.extent == cluster.Everybody {
				bound = trace.InTree
			}
			t.Add(trace.Step{Kind: trace.Hopeless, Bound: bound, Missing: s.missing(by, true)})
		}
		t.Add(trace.Step{Kind: trace.AttemptEnds})
	}
}

// Sequences makes each attempt as if the request never fitted, and yields whom it takes, in order,
// nobody put back. The victims are valid during the call.
func (s *Search) Sequences(yield func(borrowing bool, taken []Victim)) {
	s.Exhaust = true
	s.plan(func(borrowing bool) bool {
		s.attempt(Mode{Borrowing: borrowing})
		yield(borrowing, s.Taken)
		s.PutAllBack()
		return false
	})
	s.Exhaust = false
}

// plan makes attempts until one succeeds.
func (s *Search) plan(attempt func(borrowing bool) bool) bool {
	switch {
	case s.Request.Fair.Enabled():
		return attempt(true)
	case s.Request.WithinNominal:
		return attempt(false)
	case s.policy().BorrowWithinCohort.Policy != queue.Never:
		return attempt(true) || s.permitsMore() && attempt(false)
	case !s.underNominal() || !s.hasCandidate(Hierarchical) && !s.hasCandidate(Priority):
		return attempt(true)
	case !s.hasCandidate(Hierarchical):
		return attempt(false) || attempt(true)
	default:
		return attempt(true) || s.permitsMore() && attempt(false)
	}
}

// permitsMore reports whether an attempt without borrowing permits more candidates than one
// with borrowing. If not, it fails as well: without the same candidates the request did not
// fit.
func (s *Search) permitsMore() bool {
	if s.Exhaust {
		return true // the order of the candidates is asked for
	}
	for i := range s.Levels {
		if l := &s.Levels[i]; s.Permission(l.Class, false) != s.Permission(l.Class, true) && l.Reach.Heads.Len() > 0 {
			return true
		}
	}
	return false
}

// MayPermitMore reports whether time can make an attempt without borrowing permit more
// candidates than one with borrowing. If it permits the same, it succeeds no earlier.
func (s *Search) MayPermitMore() bool {
	if s.Request.Fair.Enabled() || s.policy().BorrowWithinCohort.Policy == queue.Never && !s.underNominal() {
		return false
	}
	for i := range s.Levels {
		if class := s.Levels[i].Class; s.Permission(class, false) != s.Permission(class, true) {
			return true
		}
	}
	return false
}

// attempt takes candidates in order until the request fits, then puts back those that are not
// needed (KEP-83, Preemption, steps 4 and 5). Before it takes many it checks whether the
// request is hopeless.
func (s *Search) attempt(m Mode) bool {
	if t := s.Request.Trace; t != nil {
		t.Add(trace.Step{Kind: trace.AttemptBegins, Borrowing: m.Borrowing, LargestFirst: m.LargestFirst, ByRules: s.Exhaust})
	}
	for phase := range phases {
		s.openInOrder(phase, m)
		for {
			if s.HopelessByNow(m.Borrowing) {
				if t := s.Request.Trace; t != nil {
					s.TraceHopeless(t, m.Borrowing)
				}
				s.Fail(m)
				return false
			}
			v, ok := s.next()
			if !ok {
				break
			}
			if s.Limited(&v) {
				continue
			}
			s.Take(v)
			fits := s.Fits(m.Borrowing)
			if t := s.Request.Trace; t != nil {
				s.TraceTaken(t, m.Borrowing, fits)
			}
			if fits {
				s.PutBack(m.Borrowing, nil)
				return true
			}
		}
	}
	s.Fail(m)
	return false
}

// Fail records why an attempt failed and puts all victims back. It records the shortages of
// the attempt that permits least: with borrowing, in the usual order.
func (s *Search) Fail(m Mode) {
	if s.Exhaust {
		return
	}
	if s.Request.Room != nil && s.fitsIn(usage.Victims, m.Borrowing) {
		s.WhyNot.NoRoom = true
	}
	if (m.Borrowing || s.Request.WithinNominal) && !m.LargestFirst && !s.NoteHopeless() {
		s.noteShortages(usage.Victims)
	}
	s.PutAllBack()
	if t := s.Request.Trace; t != nil {
		t.Add(trace.Step{Kind: trace.AttemptEnds})
	}
}

// TakeAllOf takes from one donor the most that an attempt can take: its candidates in order,
// until the donor has nothing to reclaim.
func (s *Search) TakeAllOf(d Donor) {
	for phase := range phases {
		s.openPhaseOf(phase, d)
		for {
			v, ok := s.next()
			if !ok {
				break
			}
			s.Take(v)
		}
	}
}

// Take removes a victim from the view.
func (s *Search) Take(v Victim) {
	s.Move(v, -1)
	s.Taken = append(s.Taken, v)
}

// PutLastBack puts back the victim taken last.
func (s *Search) PutLastBack() {
	last := len(s.Taken) - 1
	v := s.Taken[last]
	s.Taken = s.Taken[:last]
	s.Move(v, 1)
}

// PutAllBack puts back all victims.
func (s *Search) PutAllBack() {
	for len(s.Taken) > 0 {
		s.PutLastBack()
	}
}

// Move removes a victim from the view (times -1) or puts it back (1). For a whole workload it
// moves what was not taken of it before.
func (s *Search) Move(v Victim, times int64) {
	if s.Request.Room != nil {
		s.moveRoom(&v, times)
	}
	s.MoveQuota(&v, times)
}

// MoveQuota is [Search.Move] without the room.
func (s *Search) MoveQuota(v *Victim, times int64) {
	if v.Set >= 0 {
		s.View.Move(usage.Victims, v.Queue, v.Workload.Surplus[v.Set].Loads, times*v.Count)
		return
	}
	if v.Workload.Leaving > 0 && GoesWhole(v.Workload, s.Taken) {
		return // moved with its workload
	}
	s.View.Move(usage.Victims, v.Queue, v.Workload.Loads, times)
	if len(v.Workload.Surplus) > 0 {
		for _, t := range s.Taken {
			if t.Workload == v.Workload && t.Set >= 0 {
				s.View.Move(usage.Victims, v.Queue, t.Workload.Surplus[t.Set].Loads, -times*t.Count)
			}
		}
	}
	for _, part := range v.Workload.Parts {
		taken := func(t Victim) bool { return t.Workload.Leaving == part.Leaving && t.Workload.Is(v.Workload) }
		if !slices.ContainsFunc(s.Taken, taken) {
			s.View.Move(usage.Victims, v.Queue, part.Loads, times)
		}
	}
}

// FreesLittle reports whether many more victims like this one, which is already taken, would
// be needed.
func (s *Search) FreesLittle(v *Victim) bool {
	for slot, amount := range s.Request.Amounts {
		if amount == 0 {
			continue
		}
		available, _ := s.View.Available(usage.Victims, s.Request.Queue, slot)
		if quota.Sub(amount, available) > quota.Mul(askDonorsAfter, v.load(s.Request.Columns[slot])) {
			return true
		}
	}
	return false
}
