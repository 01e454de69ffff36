package fair

import (
	"math"

	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

// Sharing is the state of fair sharing. The zero value is ready; it may be used again, by
// one goroutine at a time.
type Sharing struct {
	s         *search.Search
	brackets  []bracket
	way       []int32 // brackets from the root to the queue whose turn it is
	queues    []fairQueue
	refused   []search.Victim // by the first strategy, one a queue
	refusers  marks           // their queues
	refusedAt []int32         // by node, of those
	replay    []search.Victim
	added     []int64 // by slot, what the request adds to usage
	seen      marks
}

// round is one of the two rounds of a search for victims, and how it is played.
type round struct {
	*Sharing
	// second: each queue has one more chance, by the second strategy.
	second bool
	// largestFirst: the candidates of other queues come in the order of what they free.
	largestFirst bool
}

// manyContenders is how many heads of lanes at the root cost more than to ask the bound in
// reach first. To open the root's bracket takes a look at each contender, the bound one sum.
const manyContenders = 64

// Find looks for victims by shares. As in the classical attempts it takes until the request
// fits and then puts back. But the tournament says whose turn it is, and the strategies
// whether one may be taken. The request counts in the shares all the time.
func (f *Sharing) Find(s *search.Search, largestFirst bool) bool {
	f.s = s
	found := f.find(largestFirst)
	if !found {
		s.Fail(search.Mode{Borrowing: true, LargestFirst: largestFirst})
	} else if s.Request.Fair.Recheck {
		s.PutBack(true, f.justified)
	} else {
		s.PutBack(true, nil)
	}
	f.s = nil
	return found
}

func (f *Sharing) find(largestFirst bool) bool {
	s := f.s
	if last := len(s.Levels) - 1; last >= 0 && s.Levels[last].Reach.Heads.Len() > manyContenders && s.HopelessIn(usage.InReach, true) {
		return false
	}
	f.measureRequest()
	f.addRequest(1)
	entitled := s.Request.Fair.EntitlesNominal && s.View.WithinNominal(s.Request.Queue, s.Needs)
	f.refused = f.refused[:0]
	f.refusers.next(s.View.Tree.Len())
	if n := s.View.Tree.Len(); n > len(f.refusedAt) {
		f.refusedAt = make([]int32, n)
	}
	found, hopeless := round{f, false, largestFirst}.playFirst(entitled)
	if !found && !hopeless && !entitled && !largestFirst && s.Request.Fair.Second != 0 {
		found = round{f, true, false}.playSecond()
	}
	f.addRequest(-1)
	return found
}

// measureRequest notes what the request adds to usage. It is the amount, but for the sum
// of the largest usage and the largest request, which is one too many for an int64.
func (f *Sharing) measureRequest() {
	s := f.s
	f.added = append(f.added[:0], s.Request.Amounts...)
	for n := s.Request.Queue; n >= 0; n = s.View.Tree.Parent(n) {
		for slot, cells := 0, s.View.Cells(n); slot < len(f.added); slot++ {
			f.added[slot] = min(f.added[slot], math.MaxInt64-cells[slot].Used(usage.Victims))
		}
	}
}

// addRequest adds the request to its queue so many times.
func (f *Sharing) addRequest(times int64) {
	f.s.View.MoveAmounts(usage.Victims, f.s.Request.Queue, f.added, times)
}

// fits reports whether the request fits, which is added already.
func (f *Sharing) fits() bool {
	f.addRequest(-1)
	fits := f.s.Fits(true)
	f.addRequest(1)
	return fits
}

// hopelessByNow is that of the core, with the request added already.
func (f *Sharing) hopelessByNow() bool {
	if !f.s.AsksNow() {
		return false
	}
	f.addRequest(-1)
	hopeless := f.s.HopelessByNow(true)
	f.addRequest(1)
	return hopeless
}

// playFirst takes, of the queue whose turn it is, the next candidate that may be taken:
// in the own queue, and by one within nominal quota, without a test; else by the first
// strategy. The first of each queue that fails it is kept for the second round.
func (r round) playFirst(entitled bool) (found, hopeless bool) {
	for r.start(); r.turn(); {
		q := r.current()
		if q.of.Donor.Class == search.Own || entitled {
			v, _ := r.pop(q)
			r.s.Take(v)
			if r.fits() {
				return true, false
			}
		} else if r.takeByStrategy(q) && r.fits() {
			return true, false
		}
		r.settleTurn()
		if r.hopelessByNow() {
			return false, true
		}
	}
	return false, false
}

// takeByStrategy takes the first candidate of a queue that passes the first strategy.
func (r round) takeByStrategy(q *fairQueue) bool {
	s := r.s
	first, second := s.Request.Fair.First, s.Request.Fair.Second
	ours, before := r.shareOfPreemptor(q.level), s.View.Share(q.side)
	for {
		v, ok := r.pop(q)
		if !ok {
			return false
		}
		v.Fair, v.Level, v.Side = true, q.level, q.side
		if ours.Compare(before) > 0 { // no strategy permits any, as a share only falls
			r.refuse(v)
			q.close()
			return false
		}
		s.Take(v)
		after := s.View.Share(q.side)
		if permits(first, ours, before, after) {
			return true
		}
		if r.largestFirst && !q.secondUsed && second != 0 && permits(second, ours, before, after) {
			q.secondUsed = true // or the smaller ones would come before its chance
			return true
		}
		s.PutLastBack()
		r.refuse(v)
	}
}

// refuse keeps the first of a queue that fails; the others get no second chance.
func (f *Sharing) refuse(v search.Victim) {
	if f.refusers.add(v.Queue) {
		f.refusedAt[v.Queue] = int32(len(f.refused))
		f.refused = append(f.refused, v)
	}
}

// playSecond gives each queue one more chance, by the second strategy, with the first
// candidate that failed the first.
func (r round) playSecond() bool {
	s := r.s
	for r.start(); r.turn(); {
		q := r.current()
		ours, before := r.shareOfPreemptor(q.level), s.View.Share(q.side)
		v, _ := r.pop(q)
		if ours.Compare(before) <= 0 { // else no strategy permits it
			s.Take(v)
			if !permits(s.Request.Fair.Second, ours, before, s.View.Share(q.side)) {
				s.PutLastBack()
			} else if r.fits() {
				return true
			}
		}
		r.settleTurn()
	}
	return false
}

// permits is the test itself: our share with the request, theirs with and without the
// victim.
func permits(t search.Strategy, ours, before, after quota.Share) bool {
	if t == search.FinalShare {
		return ours.Compare(after) <= 0
	}
	return ours.Compare(before) < 0
}

// shareOfPreemptor is the share of the common cohort's child on the preemptor's side.
func (f *Sharing) shareOfPreemptor(level int) quota.Share {
	return f.s.View.Share(f.s.Levels[level].Except)
}
