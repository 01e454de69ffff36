package fair

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

// manyContenders is the number of heads of lanes at the root above which the bound in reach
// is checked first. Opening the root's bracket looks at each contender; the bound is one sum.
// Without the check a hopeless reclaim among 100 queues takes three times as long (f2 and f5 of the
// bench); with 0 nothing is faster.
const manyContenders = 64

// Find searches for victims by shares. Like a classical attempt it takes victims until the
// request fits and then puts back those not needed. The tournament chooses the queue, and the
// strategies say whether its candidate may be taken. The request counts in the shares
// throughout. The mode must let the request borrow.
func (f *Sharing) Find(s *search.Search, m source.Mode) bool {
	f.s, f.mode = s, m
	if t := s.Request.Trace; t != nil {
		t.Add(trace.Step{Kind: trace.AttemptBegins, Attempt: trace.Attempt{Borrowing: true, ByRules: m.All}})
	}
	f.firsts.begin(s.View.Tree.Len())
	found := f.find()
	f.firsts.end()
	if !found {
		s.Fail(m)
	} else if s.Request.Fair.Recheck {
		s.PutBack(true, f.justified)
	} else {
		s.PutBack(true, nil)
	}
	f.s = nil
	return found
}

func (f *Sharing) find() bool {
	s := f.s
	if last := len(s.Levels) - 1; !f.mode.All && last >= 0 && s.Levels[last].Reach.Heads.Len() > manyContenders && s.RefusedIn(usage.InReach, true) {
		return false
	}
	entitled := s.Entitled()
	f.later = f.later[:0]
	found, hopeless := f.pass(round{f, false, nil}, entitled)
	for before := 0; s.Request.Fair.Stable && !found && !hopeless && len(s.Taken) > before && len(f.later) > 0; {
		before = len(s.Taken)
		again := f.later
		f.later = nil
		found, hopeless = f.pass(round{f, false, again}, entitled)
	}
	return found
}

// pass plays both rounds. With Stable it is repeated with the candidates that were refused: victims
// taken since may have made the preemptor's share smaller.
func (f *Sharing) pass(first round, entitled bool) (found, hopeless bool) {
	s := f.s
	f.refused = f.refused[:0]
	f.refusers.Next(s.View.Tree.Len())
	f.settled.Next(s.View.Tree.Len())
	if n := s.View.Tree.Len(); n > len(f.refusedAt) {
		f.refusedAt = make([]int32, n)
	}
	found, hopeless = first.playFirst(entitled)
	if !found && !hopeless && !entitled && s.Request.Fair.Reevaluate && len(f.later) > 0 && f.ownTaken() {
		first.again = f.later
		f.later, f.refused = nil, f.refused[:0]
		f.refusers.Next(s.View.Tree.Len())
		f.settled.Next(s.View.Tree.Len())
		entitled = s.Entitled()
		found, hopeless = first.playFirst(entitled)
	}
	if !found && !hopeless && !entitled && s.Request.Fair.Second != 0 {
		found = round{f, true, nil}.playSecond()
	}
	return found, hopeless
}

// ownTaken reports whether a workload of the own queue was taken.
func (f *Sharing) ownTaken() bool {
	return slices.ContainsFunc(f.s.Taken, func(v right.Victim) bool { return v.Queue == f.s.Request.Queue })
}

// keepsRefused reports whether the candidates that the strategies refuse have another chance.
func (f *Sharing) keepsRefused() bool { return f.s.Request.Fair.Stable || f.s.Request.Fair.Reevaluate }

// fits reports whether the request fits.
func (f *Sharing) fits() bool {
	fits := f.s.Fits(f.mode)
	if t := f.s.Request.Trace; t != nil {
		f.s.TraceTaken(t, true, fits)
	}
	return fits
}

// playFirst takes the next candidate that may be taken from the current queue: in the own
// queue, and for a preemptor within nominal quota, without a test; else by the first
// strategy. The first candidate of each queue that fails is kept for the second round.
func (r round) playFirst(entitled bool) (found, hopeless bool) {
	for r.start(); r.turn(); {
		q := r.current()
		if t := r.s.Request.Trace; t != nil {
			r.traceTurn(t, q)
		}
		take := r.takeByStrategy
		if q.of.Donor.Class == right.Own || entitled {
			take = r.takeNext
		}
		if take(q) && r.fits() {
			return true, false
		}
		r.settleTurn()
		if r.s.HopelessByNow(r.mode) {
			return false, true
		}
	}
	return false, false
}

// takeNext takes the next candidate of a queue without a test.
func (r round) takeNext(q *fairQueue) bool {
	for {
		v, ok := r.pop(q)
		if !ok {
			return false
		}
		if r.again != nil && v.Queue != r.s.Request.Queue {
			v.Fair = false // it was refused by a strategy, of which there is no need now
			if r.s.ProtectedFromReclaim(&v) {
				continue
			}
		}
		if r.mayTake(&v) {
			r.s.Take(v)
			r.takeAlike(nil)
			return true
		}
		q.skip(r.s, q.alike(r.s, &v))
	}
}

// takeByStrategy takes the first candidate of a queue that passes the first strategy.
func (r round) takeByStrategy(q *fairQueue) bool {
	s := r.s
	first := s.Request.Fair.First
	ours, before := r.shareOfPreemptor(q.level), s.View.Share(q.side)
	for {
		r.passRefused(q, ours)
		v, ok := r.pop(q)
		if !ok {
			return false
		}
		v.Fair, v.Level, v.Side = true, int32(q.level), q.side
		if !r.mayTake(&v) {
			q.skip(s, q.alike(s, &v))
			continue
		}
		if ours.Compare(before) > 0 { // no strategy permits any: a share only falls
			if t := s.Request.Trace; t != nil {
				t.Add(compared(&v, first, ours, before, nil, false))
			}
			r.refuse(v)
			r.close(q)
			return false
		}
		if s.Request.Trace == nil && v.Set < 0 && q.refuses(v.Workload, ours) {
			r.refuse(v)
			continue
		}
		s.Take(v)
		after := s.View.Share(q.side) // without it
		permitted := first.Permits(ours, before, after)
		if permitted {
			v.Count += r.takeAlike(func(before, after quota.Share) bool { return first.Permits(ours, before, after) })
			after = s.View.Share(v.Side)
		} else {
			more := q.alike(s, &v) // refused as well
			q.skip(s, more)
			v.Count += more
		}
		if t := s.Request.Trace; t != nil {
			t.Add(compared(&v, first, ours, before, &after, permitted))
		}
		if permitted {
			return true
		}
		s.PutLastBack()
		q.noteRefused(&v, ours)
		r.refuse(v)
	}
}

// mayTake asks the limits, and stable fair sharing; see [search.Search.MayTake].
func (f *Sharing) mayTake(v *right.Victim) bool {
	if f.s.Limited(v) {
		return false
	}
	may := f.s.MayTake(v)
	if t := f.s.Request.Trace; t != nil && !may {
		t.Skip(trace.Step{Verdict: trace.Verdict{Rule: trace.Unstable}, Node: v.Queue, Workload: v.Workload.Facts.ID, Count: 1})
	}
	return may
}

// close drops the candidates of a queue. With Stable or Reevaluate they have another chance.
func (r round) close(q *fairQueue) {
	for r.keepsRefused() && q.left() {
		v, _ := r.popAlike(q)
		r.later = append(r.later, v)
	}
	q.close()
}

// refuse keeps the candidates of a queue that fail up to the first whole workload. One of them gets a second chance: the first that is
// still there then, for replicas may be taken with their workload.
func (f *Sharing) refuse(v right.Victim) {
	if f.keepsRefused() {
		f.later = append(f.later, v)
	}
	if f.settled.Has(v.Queue) {
		return
	}
	if f.refusers.Add(v.Queue) {
		f.refusedAt[v.Queue] = int32(len(f.refused))
	}
	if !v.Partial() {
		f.settled.Add(v.Queue)
	}
	v.Count = 1
	f.refused = append(f.refused, v)
}

// playSecond gives each queue one more chance, by the second strategy, with the first
// candidate that failed the first.
func (r round) playSecond() bool {
	s := r.s
	for r.start(); r.turn(); {
		q := r.current()
		if t := s.Request.Trace; t != nil {
			r.traceTurn(t, q)
		}
		ours, before := r.shareOfPreemptor(q.level), s.View.Share(q.side)
		v, _ := r.pop(q)
		if ours.Compare(before) <= 0 && r.mayTake(&v) { // otherwise no strategy permits it
			s.Take(v)
			second, after := s.Request.Fair.Second, s.View.Share(q.side)
			permitted := second.Permits(ours, before, after)
			if t := s.Request.Trace; t != nil {
				t.Add(compared(&v, second, ours, before, &after, permitted))
			}
			if !permitted {
				s.PutLastBack()
			} else if r.noLonger(&v); r.fits() {
				return true
			}
		} else if t := s.Request.Trace; t != nil {
			t.Add(compared(&v, s.Request.Fair.Second, ours, before, nil, false))
		}
		r.settleTurn()
	}
	return false
}

// noLonger drops a candidate that was taken from those of the next pass.
func (f *Sharing) noLonger(v *right.Victim) {
	is := func(o right.Victim) bool { return o.Workload == v.Workload && o.Set == v.Set }
	if i := slices.IndexFunc(f.later, is); i >= 0 && f.later[i].Count > 1 {
		f.later[i].Count--
	} else if i >= 0 {
		f.later = slices.Delete(f.later, i, i+1)
	}
}
