package fair

import (
	"slices"

	"github.com/cedesched/cede/internal/base/least"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
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

// A strategy that refused a workload refuses those that take no less, as long as the share of the preemptor is no smaller: since then
// the shares on the side of the queue have only fallen. A queue has many workloads of few kinds, and most searches without room end
// with each of them refused.

// refuses reports whether a strategy refuses a candidate because of one that it refused.
func (f *fairQueue) refuses(w *cluster.Workload, ours quota.Share) bool {
	if w.Divides() {
		return false
	}
	for i := range f.refused {
		r := &f.refused[i]
		if (r.of == w.Template || takesNoMore(r.of.Loads, w.Loads)) && ours.Compare(r.ours) >= 0 {
			return true
		}
	}
	return false
}

// takesNoMore reports whether loads are no more than others in each column.
func takesNoMore(loads, others []quotatree.Load) bool {
	i := 0
	for _, l := range loads {
		for i < len(others) && others[i].Column < l.Column {
			i++
		}
		if l.Amount > 0 && (i == len(others) || others[i].Column != l.Column || others[i].Amount < l.Amount) {
			return false
		}
	}
	return true
}

// manyKinds is how many refusals a queue notes: to look through more would take longer than to ask the strategy.
const manyKinds = 32

// noteRefused notes that a strategy refused a candidate, in place of refusals that follow from this one.
func (f *fairQueue) noteRefused(v *right.Victim, ours quota.Share) {
	if v.Set >= 0 || v.Workload.Divides() {
		return
	}
	f.refused = slices.DeleteFunc(f.refused, func(r refusal) bool {
		return r.ours.Compare(ours) >= 0 && takesNoMore(v.Workload.Loads, r.of.Loads)
	})
	if len(f.refused) < manyKinds {
		f.refused = append(f.refused, refusal{v.Workload.Template, ours})
	}
}

// passRefused moves a queue past candidates that come next and are refused, where nothing has to be noted about them.
func (f *Sharing) passRefused(q *fairQueue, ours quota.Share) {
	r := f.s.Request
	if len(q.refused) == 0 || q.retry != nil || len(q.sorted) > 0 || r.Trace != nil || r.Limits != nil || f.keepsRefused() {
		return
	}
	f.s.Source.PassRefused(&f.s.Case, &q.of, func(w *cluster.Workload) bool { return q.refuses(w, ours) })
}
