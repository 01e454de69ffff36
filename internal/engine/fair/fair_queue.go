package fair

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
)

// openQueue opens a queue and returns its index, or -1 if it has no candidates. side is the
// level's child that is the queue or above it.
func (r round) openQueue(q, level, side int) int32 {
	s := r.s
	d, ok := s.OwnDonor()
	if q != s.Request.Queue {
		d = s.DonorAt(&s.Levels[level], q)
		ok = !s.View.WithinNominalAtFirst(q, s.Needs)
	}
	if !ok {
		return -1
	}
	n := len(r.queues)
	r.queues = source.Grown(r.queues)
	f := &r.queues[n]
	f.level, f.side, f.retry, f.sorted, f.refused = level, side, nil, nil, f.refused[:0]
	switch {
	case r.second:
		f.of = source.DonorQueue{Donor: d}
		f.retry = r.firstRefusal(q)
	case r.again != nil:
		f.of = source.DonorQueue{Donor: d}
		f.sorted = r.of(r.again, q)
	default:
		s.Source.OpenQueue(&s.Case, &f.of, d)
	}
	if r.again == nil && source.ByUsage(&s.Case) {
		r.sortQueue(f)
	}
	if !f.left() {
		r.queues = r.queues[:n]
		return -1
	}
	return int32(n)
}

// sortQueue puts the candidates in the order by usage.
func (r round) sortQueue(f *fairQueue) {
	all := f.sorted
	for f.of.Left() {
		v, _ := r.popAlike(f)
		all = append(all, v)
	}
	source.SortByUsage(&r.s.Case, all)
	f.sorted = all
}

// of returns those of the refused candidates of a queue that have another chance.
func (f *Sharing) of(list []right.Victim, q int) (some []right.Victim) {
	for i := range list {
		if list[i].Queue == q && !f.isGone(&list[i]) {
			some = append(some, list[i])
		}
	}
	return some
}

// firstRefusal returns the first candidate of the queue that failed in the first round and was not taken since;
// nil: there is none.
func (f *Sharing) firstRefusal(q int) *right.Victim {
	if !f.refusers.Has(q) {
		return nil
	}
	for i := int(f.refusedAt[q]); i < len(f.refused); i++ {
		if v := &f.refused[i]; v.Queue == q && !f.isGone(v) {
			return v
		}
	}
	return nil
}

// isGone reports whether a replica was taken since with its whole workload.
func (f *Sharing) isGone(v *right.Victim) bool {
	return v.Partial() && right.GoesWhole(v.Workload, f.s.Taken)
}

// left reports whether there is a candidate.
func (f *fairQueue) left() bool { return f.of.Left() || f.retry != nil || len(f.sorted) > 0 }

// close drops all candidates.
func (f *fairQueue) close() {
	f.retry, f.sorted = nil, nil
	f.of.Close()
}

// head returns the position of the next candidate, for comparing queues.
func (f *Sharing) head(q *fairQueue) source.Position {
	switch {
	case q.retry != nil:
		return source.PositionOf(&f.s.Case, q.retry.Workload, q.retry.Set >= 0)
	case len(q.sorted) > 0:
		return source.PositionOf(&f.s.Case, q.sorted[0].Workload, q.sorted[0].Set >= 0)
	}
	return q.of.Head()
}

// pop removes and returns the next candidate; ok is false if there is none.
func (f *Sharing) pop(q *fairQueue) (v right.Victim, ok bool) {
	switch {
	case q.retry != nil:
		v, q.retry = *q.retry, nil
		return v, true
	case len(q.sorted) > 0:
		v = q.sorted[0]
		v.Count = 1
		q.skip(f.s, 1)
		return v, true
	}
	return f.s.Source.Pop(&f.s.Case, &q.of)
}

// popAlike is pop, with all that come next and are alike.
func (f *Sharing) popAlike(q *fairQueue) (v right.Victim, ok bool) {
	if v, ok = f.pop(q); ok {
		more := q.alike(f.s, &v)
		q.skip(f.s, more)
		v.Count += more
	}
	return v, ok
}

// alike returns how many of the next candidates are replicas alike a victim.
func (f *fairQueue) alike(s *search.Search, v *right.Victim) int64 {
	if len(f.sorted) > 0 {
		return source.AlikeIn(v, &f.sorted[0])
	}
	return s.Source.AlikeOf(v, &f.of)
}

// skip goes past so many of the next candidates, of those that are alike.
func (f *fairQueue) skip(s *search.Search, n int64) {
	switch {
	case len(f.sorted) == 0:
		s.Source.SkipOf(&s.Case, &f.of, n)
	case f.sorted[0].Count > n:
		f.sorted[0].Count -= n
	case n > 0:
		f.sorted = f.sorted[1:]
	}
}
