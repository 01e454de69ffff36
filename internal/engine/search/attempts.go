package search

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/queue"
)

// Find makes the attempts of classical sharing: with borrowing if the queue may, then
// without. It stops at the first that succeeds, even if a later one would need fewer victims.
func (s *Search) Find() bool {
	return s.plan(func(borrowing bool) bool {
		return s.Attempt(source.Mode{Borrowing: borrowing})
	})
}

// Attempts returns the attempts of the search, in order: whether each lets the request take
// its queue over its nominal quota.
func (s *Search) Attempts() (list []bool) {
	s.plan(func(borrowing bool) bool {
		list = append(list, borrowing)
		return false
	})
	return list
}

// plan makes attempts until one succeeds.
func (s *Search) plan(attempt func(borrowing bool) bool) bool {
	second := func() bool { return s.permitsMore() && attempt(false) }
	switch {
	case s.Request.Fair.Enabled():
		return attempt(true)
	case s.Request.WithinNominal:
		return attempt(false)
	case s.Policy().BorrowWithinCohort.Policy != queue.Never:
		return attempt(true) || second()
	case !s.underNominal() || !s.Source.Any(&s.Case, right.Hierarchical) && !s.Source.Any(&s.Case, right.Priority):
		return attempt(true)
	case !s.Source.Any(&s.Case, right.Hierarchical):
		return attempt(false) || attempt(true)
	default:
		return attempt(true) || second()
	}
}

// permitsMore reports whether an attempt without borrowing permits more candidates than one
// with borrowing. If not, it fails as well: without the same candidates the request did not
// fit.
func (s *Search) permitsMore() bool {
	for i := range s.Levels {
		if l := &s.Levels[i]; s.PermitsMore(l) && l.Reach.Heads.Len() > 0 {
			return true
		}
	}
	return false
}

// MayPermitMore reports whether time can make an attempt without borrowing permit more
// candidates than one with borrowing. If it permits the same, it succeeds no earlier.
func (s *Search) MayPermitMore() bool {
	if s.Request.SharesDecide() || s.Policy().BorrowWithinCohort.Policy == queue.Never && !s.underNominal() {
		return false
	}
	for i := range s.Levels {
		if s.PermitsMore(&s.Levels[i]) {
			return true
		}
	}
	return false
}

// Attempt takes candidates in order until the request fits, then puts back those that are not
// needed (KEP-83, Preemption, steps 4 and 5). Before it takes many it checks whether the
// request is hopeless.
func (s *Search) Attempt(m source.Mode) bool {
	if t := s.Request.Trace; t != nil {
		t.Add(trace.Step{Kind: trace.AttemptBegins, Attempt: trace.Attempt{Borrowing: m.Borrowing, ByRules: m.All}})
	}
	for phase := range source.Phases {
		s.Source.Open(&s.Case, phase, m)
		for {
			if s.HopelessByNow(m) {
				s.Fail(m)
				return false
			}
			v, ok := s.Source.Next(&s.Case)
			if !ok {
				break
			}
			if s.Limited(&v) {
				s.Source.Skip(&s.Case, s.Source.Alike(&v))
				continue
			}
			s.Take(v)
			fits := s.Fits(m) || takeAlike(s, m)
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
// the attempt that permits least: with borrowing. Of an attempt that takes all
// candidates it records nothing, and they stay taken.
func (s *Search) Fail(m source.Mode) {
	if m.All {
		return
	}
	if s.Request.Room != nil && s.fitsIn(usage.Victims, m.Borrowing) {
		s.WhyNot.NoRoom = true
	}
	if (m.Borrowing || s.Request.WithinNominal) && !s.NoteHopeless() {
		s.noteShortages(usage.Victims)
	}
	s.PutAllBack()
	if t := s.Request.Trace; t != nil {
		t.Add(trace.Step{Kind: trace.AttemptEnds})
	}
}

// TakeAllOf takes from one donor the most that an attempt can take: its candidates in order,
// until the donor has nothing to reclaim.
func (s *Search) TakeAllOf(d right.Donor) {
	for phase := range source.Phases {
		s.Source.OpenOf(&s.Case, phase, d)
		for v, ok := s.Source.Next(&s.Case); ok; v, ok = s.Source.Next(&s.Case) {
			s.Take(v)
			takeAlike(s, source.Mode{All: true})
		}
	}
}

// BeginRules notes that an attempt by rules begins before which policies take no victim.
func (s *Search) BeginRules() {
	if t := s.Request.Trace; t != nil {
		t.Add(trace.Step{Kind: trace.AttemptBegins, Attempt: trace.Attempt{Borrowing: true, ByRules: true}})
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
			s.traceBound(t, by, true)
		}
		t.Add(trace.Step{Kind: trace.AttemptEnds})
	}
}
