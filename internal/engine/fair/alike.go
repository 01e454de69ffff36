package fair

import (
	"slices"

	"github.com/cedesched/cede/internal/base/least"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/quota"
)

// takeAlike takes as many more replicas alike the victim taken last as the tournament would, one after the other, and
// returns how many: until the request fits, another queue is next, or one may not be taken. permits is the strategy,
// which is given the shares of the queue's side before and after one more; nil: there is no need of one. Whatever ends it
// goes on to hold as shares fall.
func (r round) takeAlike(permits func(before, after quota.Share) bool) int64 {
	s := r.s
	last := len(s.Taken) - 1
	v, q := s.Taken[last], r.current()
	next, side := q.alike(s, &v), q.side
	if next == 0 {
		return 0
	}
	one := v
	n := least.Most(next, func(n int64) bool { // it is taken
		search.MoveLast(s, v.Count+n-1)
		if s.Fits(r.mode) || !r.staysFirst() || !s.MayTake(&one) {
			return false
		}
		if permits == nil {
			return true
		}
		before := s.View.Share(side)
		search.MoveLast(s, v.Count+n)
		return permits(before, s.View.Share(side))
	})
	search.MoveLast(s, v.Count+n)
	r.current().skip(s, n) // to compare may have opened queues, and moved all in memory
	return n
}

// staysFirst reports whether the current queue is still the next one, with the shares as they are now.
func (r round) staysFirst() bool {
	for b, top := range r.onWay {
		if !top.onPath && !top.borrows {
			return false
		}
		list := r.brackets[b].heap
		for i := 1; i < min(3, len(list)); i++ { // below the top of the heap
			if !r.earlier(b, &top, &list[i]) {
				return false
			}
		}
	}
	return true
}

// refuses reports whether a strategy refuses a candidate because it refused one that takes the same: since then the shares on the
// side of the queue have only fallen, and that of the preemptor is no smaller. A queue has many workloads of few kinds, and most
// searches without room end with each of them refused.
func (f *fairQueue) refuses(v *right.Victim, ours quota.Share) bool {
	at := f.refusalOf(v)
	return at >= 0 && ours.Compare(f.refused[at].ours) >= 0
}

// manyKinds is how many refusals a queue notes: to look through more would take longer than to ask the strategy.
const manyKinds = 32

// noteRefused notes that a strategy refused a candidate.
func (f *fairQueue) noteRefused(v *right.Victim, ours quota.Share) {
	switch at := f.refusalOf(v); {
	case at >= 0:
		f.refused[at].ours = ours // less than before
	case v.Set < 0 && !v.Workload.Divides() && len(f.refused) < manyKinds:
		f.refused = append(f.refused, refusal{v.Workload.Template, ours})
	}
}

// refusalOf returns the index of the refusal of one that takes the same as a candidate; -1: there is none.
func (f *fairQueue) refusalOf(v *right.Victim) int {
	if v.Set >= 0 {
		return -1
	}
	return slices.IndexFunc(f.refused, func(r refusal) bool { return r.of == v.Workload.Template })
}
