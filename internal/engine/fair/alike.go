package fair

import (
	"github.com/cedesched/cede/internal/base/least"
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
