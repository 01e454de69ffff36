package search

import (
	"math"

	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

type share = quota.Share

// Strategy is a test that a victim of another queue must pass in fair sharing. Both
// compare the shares of the two children of the lowest common cohort: that on the
// preemptor's side with the request, and that on the victim's.
type Strategy uint8

const (
	// FinalShare: the preemptor's share is at most the victim's without the victim.
	FinalShare Strategy = 1 + iota
	// InitialShare: the preemptor's share is less than the victim's with the victim.
	InitialShare
)

// Fairness is the configuration of fair sharing. The zero value is none.
type Fairness struct {
	First, Second Strategy // Second may be none
	// EntitlesNominal: a preemptor that stays within its nominal quota needs no
	// strategy.
	EntitlesNominal bool
	// Recheck the strategies before a victim is given back.
	Recheck bool
}

func (f *Fairness) enabled() bool { return f.First != 0 }

func (f *Fairness) has(t Strategy) bool { return f.First == t || f.Second == t }

// wide is how many contenders cost more than to ask the sums first.
const wide = 64

// fairAttempt looks for victims by shares. As in the classical attempts it takes until
// the request fits and then gives back; but whose turn it is says the tournament, and
// whether one may be taken the strategies. The request counts in the shares all the time.
func (s *Searcher) fairAttempt() bool {
	if last := len(s.levels) - 1; last >= 0 && s.levels[last].reach.Heads.Len() > wide && s.outOf(usage.InReach, true) {
		s.fail(true)
		return false
	}
	s.measureRequest()
	s.addRequest(1)
	entitled := s.request.Fair.EntitlesNominal && s.view.WithinNominal(s.request.Queue, s.request.Needs)
	s.refused = s.refused[:0]
	s.refusers.next(s.view.Tree.Len())
	if n := s.view.Tree.Len(); n > len(s.refusedAt) {
		s.refusedAt = make([]int32, n)
	}
	s.startTournament(false)
	found, proven := s.firstRound(entitled)
	if !found && !proven && !entitled && !s.largestFirst && s.request.Fair.Second != 0 {
		s.startTournament(true)
		found = s.secondRound()
	}
	s.addRequest(-1)
	if !found {
		s.fail(true)
		return false
	}
	s.giveBack(true)
	return true
}

// measureRequest notes what the request adds to usage. It is the amount, but for the sum
// of the largest usage and the largest request, which is one too many for an int64.
func (s *Searcher) measureRequest() {
	s.added = append(s.added[:0], s.request.Amounts...)
	for n := s.request.Queue; n >= 0; n = s.view.Tree.Parent(n) {
		for slot, cells := 0, s.view.Cells(n); slot < len(s.added); slot++ {
			s.added[slot] = min(s.added[slot], math.MaxInt64-cells[slot].Used(usage.Victims))
		}
	}
}

// addRequest adds the request to its queue so many times.
func (s *Searcher) addRequest(times int64) {
	s.view.MoveAmounts(usage.Victims, s.request.Queue, s.added, times)
}

// fitsBesides reports whether the request fits, which is added already.
func (s *Searcher) fitsBesides() bool {
	s.addRequest(-1)
	fits := s.fits(true)
	s.addRequest(1)
	return fits
}

// firstRound takes, of the queue whose turn it is, the next candidate that may be taken:
// in the own queue, and by one within nominal quota, without a test; else by the first
// strategy. The first of each queue that fails it is kept for the second round.
func (s *Searcher) firstRound(entitled bool) (found, proven bool) {
	for s.turn() {
		l := s.current()
		if l.donor.class == own || entitled {
			v, _ := s.pop(l)
			s.take(v)
			if s.fitsBesides() {
				return true, false
			}
		} else if s.takeByStrategy(l) && s.fitsBesides() {
			return true, false
		}
		s.settleTurn()
		if s.provenInVainBesides() {
			return false, true
		}
	}
	return false, false
}

// provenInVainBesides is provenInVain with the request added already.
func (s *Searcher) provenInVainBesides() bool {
	if n := len(s.taken); n != 1 && n != askAt {
		return false
	}
	s.addRequest(-1)
	defer s.addRequest(1)
	return s.provenInVain(true)
}

// takeByStrategy takes the first candidate of a queue that passes the first strategy.
func (s *Searcher) takeByStrategy(l *lineup) bool {
	ours, before := s.shareOfPreemptor(l.level), s.view.Share(l.side)
	for {
		v, ok := s.pop(l)
		if !ok {
			return false
		}
		v.Fair, v.level, v.side = true, l.level, l.side
		if ours.Compare(before) > 0 { // no strategy permits any, as a share only falls
			s.refuse(v)
			l.giveUp()
			return false
		}
		s.take(v)
		after := s.view.Share(l.side)
		if s.request.Fair.First.permits(ours, before, after) {
			return true
		}
		if s.largestFirst && !l.secondUsed && s.request.Fair.Second != 0 && s.request.Fair.Second.permits(ours, before, after) {
			l.secondUsed = true // or the smaller ones would come before its chance
			return true
		}
		s.untake()
		s.refuse(v)
	}
}

// refuse keeps the first of a queue that fails; the others get no second chance.
func (s *Searcher) refuse(v Victim) {
	if s.refusers.add(v.queue) {
		s.refusedAt[v.queue] = int32(len(s.refused))
		s.refused = append(s.refused, v)
	}
}

// secondRound gives each queue one more chance, by the second strategy, with the first
// candidate that failed the first.
func (s *Searcher) secondRound() bool {
	for s.turn() {
		l := s.current()
		ours, before := s.shareOfPreemptor(l.level), s.view.Share(l.side)
		v, _ := s.pop(l)
		if ours.Compare(before) <= 0 { // else no strategy permits it
			s.take(v)
			if !s.request.Fair.Second.permits(ours, before, s.view.Share(l.side)) {
				s.untake()
			} else if s.fitsBesides() {
				return true
			}
		}
		s.settleTurn()
	}
	return false
}

// permits is the test itself: our share with the request, theirs with and without the
// victim.
func (t Strategy) permits(ours, before, after share) bool {
	if t == FinalShare {
		return ours.Compare(after) <= 0
	}
	return ours.Compare(before) < 0
}

// shareOfPreemptor is the share of the common cohort's child on the preemptor's side.
func (s *Searcher) shareOfPreemptor(level int) share {
	return s.view.Share(s.levels[level].except)
}

// untake puts the last victim back.
func (s *Searcher) untake() {
	last := len(s.taken) - 1
	v := s.taken[last]
	s.taken = s.taken[:last]
	s.move(v, 1)
}

// justified reports whether there is an order of victims, all of whom are gone, in which
// each that was taken by a strategy passes one, with only those before it gone.
//
// What leaves below a level makes the preemptor's share there smaller and no other; what
// leaves on one side changes the shares of that side alone. So the order from the nearest
// level to the farthest, the own queue before all, is as good as any, and each side is a
// question by itself. A workload that goes whole is one victim: replicas of its surplus that
// were taken before are part of it.
func (s *Searcher) justified(first, second []Victim) bool {
	s.replay = s.replay[:0]
	for _, list := range [...][]Victim{first, second} {
		for _, v := range list {
			if v.Set < 0 || !goesWhole(v.Workload, first) && !goesWhole(v.Workload, second) {
				s.replay = append(s.replay, v)
			}
		}
	}
	kept := s.taken
	s.taken = s.replay
	s.addRequest(1)
	s.seen.next(s.view.Tree.Len())
	justified := true
	for i := range s.replay {
		if v := &s.replay[i]; v.Fair && s.seen.add(v.side) && !s.justifiedOn(v.side, v.level) {
			justified = false
			break
		}
	}
	s.addRequest(-1)
	s.taken = kept
	return justified
}

// justifiedOn is justified for the victims of one side. A share only falls: where the
// last one passes, so do those before it, in any order of them. So all of them pass by
// the final share, or one of them is last that passes by the initial share.
func (s *Searcher) justifiedOn(side, level int) bool {
	f, ours, final := &s.request.Fair, s.shareOfPreemptor(level), s.view.Share(side)
	if f.has(FinalShare) && FinalShare.permits(ours, final, final) {
		return true
	}
	if !f.has(InitialShare) {
		return false
	}
	for _, v := range s.replay {
		if !v.Fair || v.side != side {
			continue
		}
		s.move(v, 1)
		before := s.view.Share(side)
		s.move(v, -1)
		if InitialShare.permits(ours, before, final) {
			return true
		}
	}
	return false
}
