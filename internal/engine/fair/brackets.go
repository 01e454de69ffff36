package fair

import (
	"math"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/quota"
)

// The tournament chooses the next queue: from the root down, the child with the largest
// share, until that is a queue. Children that borrow nothing are left out, except those above
// the preemptor's queue; so are children without candidates. At equal share a cohort comes
// before a queue; of queues, the one with the better next candidate (being evicted, of
// another queue, then as in a phase of candidates); of cohorts, the one with the better first
// workload before anything was taken, then the one with the smaller name. (Kueue takes the
// last cohort in the order of a map.)

// start opens the bracket of the root.
func (r round) start() {
	s := r.s
	if t := s.Request.Trace; t != nil {
		t.Add(trace.Step{Kind: trace.RoundBegins, Attempt: trace.Attempt{Second: r.second}})
	}
	s.Source.Clear()
	r.queues, r.brackets = r.queues[:0], r.brackets[:0]
	if last := len(s.Levels) - 1; last >= 0 {
		r.openBracket(s.Levels[last].Cohort, last, -1)
		return
	}
	r.brackets = source.Grown(r.brackets)
	b := &r.brackets[0]
	*b = bracket{heap: append(b.heap[:0], r.contender(s.Request.Queue, true)), side: -1}
}

func (f *Sharing) contender(node int, onPath bool) contender {
	c := contender{node: node, onPath: onPath}
	f.setShare(&c)
	return c
}

// setShare sets the share of a contender as it is now; the request counts.
func (f *Sharing) setShare(c *contender) {
	if c.onPath {
		c.set(f.s.Share(c.node))
	} else {
		c.set(f.s.View.Share(c.node))
	}
}

func (c *contender) set(share quota.Share) {
	c.borrows, c.ratio, c.weighted = share.Borrows, share.Ratio, share.Weighted()
}

// onWay yields the first contender of each bracket on the way to the current queue, from the queue up, with its share as
// it is now.
func (r round) onWay(yield func(bracket int, top contender) bool) {
	r.climb.Begin(&r.s.View, r.s.Request.Queue, r.s.Added())
	for i := len(r.way) - 1; i >= 0; i-- {
		top := r.brackets[r.way[i]].heap[0]
		if top.onPath {
			top.set(r.climb.Share(top.node))
		} else {
			top.set(r.s.View.Share(top.node))
		}
		if !yield(int(r.way[i]), top) {
			return
		}
	}
}

// openBracket makes the bracket of a cohort and returns its index.
func (r round) openBracket(cohort, level, side int) int32 {
	s := r.s
	n := len(r.brackets)
	r.brackets = source.Grown(r.brackets)
	list := r.brackets[n].heap[:0]
	except := -1
	if side < 0 {
		except = s.Levels[level].Except
		list = append(list, r.contender(except, true))
	}
	r.seen.Next(s.View.Tree.Len())
	p, reach := s.Permission(right.Hierarchical, true), s.Cluster.Reach(cohort)
	for lane := range cluster.Lanes {
		if !reach.Has(lane) {
			continue
		}
		var cursor cluster.HeadCursor
		// Seek finds the end of the range: a look at each workload costs more than the rest.
		cursor.Seek(reach.Heads, func(h cluster.Head) bool { return h.Lane < lane || h.Lane == lane && p.Permits(h.Workload) })
		end, _ := cursor.Item()
		for cluster.SeekLane(&cursor, reach.Heads, lane); ; cursor.Next() {
			h, ok := cursor.Item()
			if !ok || h == end {
				if t := s.Request.Trace; t != nil {
					source.TraceRefused(t, &s.Case, cursor, right.Hierarchical, except, lane)
				}
				break
			}
			if node := int(h.Node); node != except && r.seen.Add(node) {
				if of := s.View.Share(node); of.Borrows {
					list = append(list, contender{node: node, borrows: true, ratio: of.Ratio, weighted: of.Weighted()})
				}
			}
		}
	}
	r.brackets[n] = bracket{level, side, list}
	heap.Init(list, func(x, y *contender) bool { return r.earlier(n, x, y) })
	return int32(n)
}

// turn finds the next queue and records the way to it. It returns false if no queue is left.
func (r round) turn() bool {
	r.way = append(r.way[:0], 0)
	for {
		b := int(r.way[len(r.way)-1])
		if len(r.brackets[b].heap) == 0 {
			if len(r.way) == 1 {
				return false
			}
			r.way = r.way[:len(r.way)-1]
			r.drop(int(r.way[len(r.way)-1]))
			continue
		}
		top := &r.brackets[b].heap[0]
		if !top.onPath && !top.borrows {
			r.drop(b)
			continue
		}
		at := r.opened(b, top)
		switch {
		case r.s.Cluster.IsQueue(top.node) && at >= 0:
			return true
		case at < 0:
			r.drop(b)
		default:
			r.way = append(r.way, at)
		}
	}
}

// opened opens a contender of a bracket, if it is not open, and returns its index.
func (r round) opened(b int, c *contender) int32 {
	if c.open {
		return c.at
	}
	c.open = true
	level, side := r.brackets[b].level, r.brackets[b].side
	if side < 0 {
		if c.onPath {
			level-- // the next level's cohort, or the own queue
		} else {
			side = c.node
		}
	}
	if r.s.Cluster.IsQueue(c.node) {
		c.at = r.openQueue(c.node, level, side)
	} else {
		c.at = r.openBracket(c.node, level, side)
	}
	return c.at
}

// current returns the queue that turn found.
func (f *Sharing) current() *fairQueue {
	return &f.queues[f.brackets[f.way[len(f.way)-1]].heap[0].at]
}

// settleTurn updates the shares on the way up and drops a queue without candidates.
func (r round) settleTurn() {
	last := int(r.way[len(r.way)-1])
	for b, top := range r.onWay {
		if r.brackets[b].heap[0] = top; b == last && !r.queues[top.at].left() {
			r.drop(b)
		} else {
			heap.Fix(r.brackets[b].heap, 0, func(x, y *contender) bool { return r.earlier(b, x, y) })
		}
	}
}

// drop removes the first contender of a bracket.
func (r round) drop(b int) {
	list := heap.Drop(r.brackets[b].heap, func(x, y *contender) bool { return r.earlier(b, x, y) })
	r.brackets[b].heap = list
}

// earlier is the order of two contenders of a bracket.
func (r round) earlier(b int, x, y *contender) bool {
	return x.weighted > y.weighted || x.weighted == y.weighted && r.earlierOfEqual(b, x, y)
}

// earlierOfEqual orders two contenders with the same weighted share. If it compares queues by
// their candidates, it opens them.
func (r round) earlierOfEqual(b int, x, y *contender) bool {
	if math.IsInf(x.weighted, 1) && x.ratio != y.ratio { // see quota.Share.Compare
		return x.ratio > y.ratio
	}
	xQueue, yQueue := r.s.Cluster.IsQueue(x.node), r.s.Cluster.IsQueue(y.node)
	switch {
	case xQueue != yQueue:
		return yQueue
	case xQueue:
		return r.earlierQueue(r.opened(b, x), r.opened(b, y))
	}
	return r.earlierCohort(x.node, y.node)
}

// earlierQueue compares two queues by their next candidates. A queue without any more is no
// longer in its bracket; one that never had any, with the index -1, comes last.
func (f *Sharing) earlierQueue(i, j int32) bool {
	if i < 0 || j < 0 {
		return i > j
	}
	x, y := &f.queues[i], &f.queues[j]
	a, b := f.head(x), f.head(y)
	switch aEvicted, bEvicted := a.Workload.Facts.Evicted, b.Workload.Facts.Evicted; {
	case aEvicted != bEvicted:
		return aEvicted
	case (x.of.Donor.Class == right.Own) != (y.of.Donor.Class == right.Own):
		return y.of.Donor.Class == right.Own
	}
	return a.Before(&b)
}

// earlierCohort compares two cohorts by the first workloads that the cluster has under them, without those
// that use nothing: these change no answer.
// Numbers of cohorts are in the order of their names.
func (f *Sharing) earlierCohort(x, y int) bool {
	s := f.s
	a, b := f.firsts.of(s, x), f.firsts.of(s, y)
	switch {
	case a == nil || b == nil:
		if a == nil && b == nil {
			return x < y
		}
		return a != nil
	case a.Facts.Evicted != b.Facts.Evicted:
		return a.Facts.Evicted
	}
	i, j := source.PositionOf(&s.Case, a, false), source.PositionOf(&s.Case, b, false)
	return i.Before(&j)
}
