package rules

import (
	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/queue/rules"
)

// phases are the parts of a tier, in order: those that are being evicted, then the others; in
// each, other queues come first (the order of candidates of KEP-83, Preemption, step 3).
var phases = [...]struct {
	lanes [2]cluster.Lane
	own   bool
}{
	{[2]cluster.Lane{cluster.Evicted, cluster.EvictedUnreserved}, false},
	{[2]cluster.Lane{cluster.Evicted, cluster.EvictedUnreserved}, true},
	{[2]cluster.Lane{cluster.Active, cluster.ActiveUnreserved}, false},
	{[2]cluster.Lane{cluster.Active, cluster.ActiveUnreserved}, true},
}

// order walks the workloads of many lanes in the order of candidates: lower effective priority,
// later reservation (one that is not known is the latest), UID, ID.
type order struct {
	lanes []laneOf
	heap  []nextOf // by the next workload
	begun bool     // the first of the heap was given already
	moved bool     // the cursor of its lane is after it
	ended bool     // nobody else of its lane is given
	own   ordered  // in an order of the configuration's own
	// waiting lists the lanes whose next workloads nobody accepts as long as the preemptor does not
	// have BorrowingCapacityFromPreemptor; waited: there were some, or such sources. depth is that of
	// the cohorts for which it has it (see capacity).
	waiting []int
	waited  bool
	depth   int
	heads   heads
	// quotaOnly: those who use nothing of what needs preemption are left out.
	quotaOnly bool
}

// laneOf is a lane of a queue.
type laneOf struct {
	donor
	set    *cluster.LaneSet
	cursor cluster.LaneCursor
	lacks  bool // without BorrowingCapacityFromPreemptor
}

// mayGive reports whether somebody may accept a workload; later: not as long as the preemptor lacks
// the capacity.
func mayGive(r *rules.Reach, lacks bool, w *cluster.Workload) (ok, later bool) {
	switch {
	case w.Priority > r.Most:
		return false, false
	case lacks && (!r.Others || w.Priority > r.MostOthers):
		return false, true
	}
	return true, false
}

// nextOf is the next workload of a lane, or of a source as ofSource encodes it. The heap moves these,
// which are small.
type nextOf struct {
	*cluster.Workload
	lane int
}

// open begins a phase of a tier.
func (o *order) open(t *Taker, s *search.Search, of *tier, phase int, quotaOnly bool) {
	o.empty()
	o.begun, o.moved, o.ended, o.waited = false, false, false, false
	if o.quotaOnly = quotaOnly; len(o.own.by) > 0 {
		o.own.open(t, s, of, phase, quotaOnly)
		return
	}
	if t.constrained {
		o.depth = t.capacityDepth(s)
	}
	for i := range of.donors {
		d := &of.donors[i]
		if phases[phase].own != (d.node == s.Request.Queue) {
			continue
		}
		lacks := t.lacks(s, d)
		for _, lane := range phases[phase].lanes {
			if it, ok := o.openLane(s, d, lane, lacks); ok {
				o.heap = append(o.heap, it)
			}
		}
	}
	o.openHeads(t, s, of, phase)
	heap.Init(o.heap, earlier)
}

// openLane opens a lane of a queue; ok is false if its first workload is not given now.
func (o *order) openLane(s *search.Search, d *donor, lane cluster.Lane, lacks bool) (it nextOf, ok bool) {
	set := s.Cluster.Running(d.node).Lane(lane)
	w, ok := set.First()
	if !ok || w.Priority > d.Most {
		return it, false
	}
	n := len(o.lanes)
	o.lanes = source.Grown(o.lanes)
	l := &o.lanes[n]
	l.donor, l.set, l.lacks = *d, set, lacks
	if ok, _ = mayGive(&l.Reach, lacks, w); !ok {
		o.wait(n)
		return it, false
	}
	l.cursor.First(*set)
	return nextOf{w, n}, true
}

// next returns the next workload and the node of its queue.
func (o *order) next(t *Taker, s *search.Search) (w *cluster.Workload, node int, ok bool) {
	if len(o.own.by) > 0 {
		return o.own.next()
	}
	if o.begun {
		n := o.heap[0].lane
		l := &o.lanes[n]
		if !o.moved {
			l.cursor.Next()
		}
		o.moved = false
		w, more := l.cursor.Item()
		for more && o.quotaOnly && !s.UsesNeeded(w.Loads) {
			s.Steps++
			l.cursor.NextIn(s.UsesNeeded)
			w, more = l.cursor.Item()
		}
		ok, later := false, false
		if more && !o.ended {
			ok, later = mayGive(&l.Reach, l.lacks, w)
		}
		if ok {
			o.heap[0].Workload = w
			heap.Fix(o.heap, 0, earlier)
		} else if o.drop(); later {
			o.wait(n)
		}
		o.ended = false
	}
	for len(o.heap) > 0 && o.heap[0].isSource() {
		o.expand(t, s)
	}
	if o.begun = len(o.heap) > 0; !o.begun {
		return nil, -1, false
	}
	s.Steps++
	return o.heap[0].Workload, o.lanes[o.heap[0].lane].node, true
}

// last returns the queue of the last one.
func (o *order) last() *donor {
	if len(o.own.by) > 0 {
		return o.own.queues[0].donor
	}
	return &o.lanes[o.heap[0].lane].donor
}

// close ends the lane, or the queue, of the last one.
func (o *order) close() { o.ended, o.own.ends = true, true }

// suspend lets the queue of the last one wait until the preemptor's share is smaller. The usual order
// goes on in the queue.
func (o *order) suspend() { o.own.waits = !o.own.final }

// pass goes past the last one, which a minimum runtime protects, and others that it protects, too.
func (o *order) pass(last *cluster.Workload, least minimum.Runtime, now int64) {
	if len(o.own.by) > 0 {
		return
	}
	l := &o.lanes[o.heap[0].lane]
	passProtected(&l.cursor, l.set, last, least, now)
	o.moved = true
}

// passProtected moves past a workload that a minimum runtime protects, and those of its priority that
// were reserved late enough to be protected, too.
func passProtected(cursor *cluster.LaneCursor, of *cluster.LaneSet, w *cluster.Workload, least minimum.Runtime, now int64) {
	cursor.Seek(*of, func(o *cluster.Workload) bool {
		return o.Priority < w.Priority || o.Priority == w.Priority && protects(least, o, now)
	})
}

// drop removes the first of the heap.
func (o *order) drop() {
	o.heap = heap.Drop(o.heap, earlier)
	clear(o.heap[len(o.heap):][:1]) // so that what was not used since is empty
}

// empty drops the lanes and sources, and their references to the cluster. It costs what was used.
func (o *order) empty() {
	clear(o.lanes)
	clear(o.heap)
	o.lanes, o.heap, o.waiting = o.lanes[:0], o.heap[:0], o.waiting[:0]
	o.heads.empty()
}

// release drops all references to the cluster.
func (o *order) release() {
	o.empty()
	if len(o.own.by) > 0 {
		o.own.release()
	}
}

// begin sets the order; empty: the usual one.
func (o *order) begin(by []rules.Ordering) { o.own.begin(by) }

// byHeads reports whether an index of a cluster finds other queues in the order; those of other trees it
// finds only in the usual one.
func (o *order) byHeads(c *cluster.Cluster, otherTrees bool) bool {
	return len(o.own.by) == 0 || !otherTrees && o.own.serve(c)
}

// wait keeps a lane until the preemptor has the capacity.
func (o *order) wait(lane int) {
	o.waiting, o.waited = append(o.waiting, lane), true
}

// change says that the last one was taken. A lane that waits goes on after it.
func (o *order) change(t *Taker, s *search.Search) {
	if len(o.own.by) > 0 {
		o.own.change(&s.Taken[len(s.Taken)-1])
		return
	}
	if !t.constrained || !o.begun || t.capacityDepth(s) <= o.depth {
		return
	}
	o.depth = t.capacityDepth(s)
	for i := range o.lanes {
		o.lanes[i].lacks = t.lacks(s, &o.lanes[i].donor)
	}
	left, last := o.waiting[:0], o.heap[0]
	for _, n := range o.waiting {
		if o.lanes[n].lacks {
			left = append(left, n)
		} else {
			o.resume(n, &last)
		}
	}
	o.waiting = left
	o.changeHeads(t, s, &last)
}

// resume lets a lane go on after a workload of another one.
func (o *order) resume(n int, last *nextOf) {
	l := &o.lanes[n]
	l.cursor.Seek(*l.set, func(w *cluster.Workload) bool { return earlier(&nextOf{Workload: w}, last) })
	if w, more := l.cursor.Item(); more && w.Priority <= l.Most {
		o.heap = heap.Push(o.heap, nextOf{w, n}, earlier)
	}
}

func earlier(a, b *nextOf) bool {
	v, w := a.Workload, b.Workload
	switch {
	case v.Priority != w.Priority:
		return v.Priority < w.Priority
	case v.Reserved != w.Reserved:
		return instant.Rank(v.Reserved) > instant.Rank(w.Reserved)
	}
	return cluster.CompareIDs(v, w) < 0
}
