package rules

import (
	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/rules"
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
	ended bool     // nobody else of its lane is given
	own   ordered  // in an order of the configuration's own
}

// laneOf is a lane of a queue.
type laneOf struct {
	donor  *donor
	cursor cluster.LaneCursor
}

// nextOf is the next workload of a lane. The heap moves these, which are small.
type nextOf struct {
	*cluster.Workload
	lane int
}

// open begins a phase.
func (o *order) open(t *Taker, s *search.Search, donors []donor, phase int) {
	o.lanes, o.heap, o.begun, o.ended = o.lanes[:0], o.heap[:0], false, false
	if len(o.own.by) > 0 {
		o.own.open(t, s, donors, phase)
		return
	}
	for i := range donors {
		node := donors[i].node
		if phases[phase].own != (node == s.Request.Queue) {
			continue
		}
		for _, lane := range phases[phase].lanes {
			set := s.Cluster.Running(node).Lane(lane)
			if set.Len() == 0 {
				continue
			}
			if first, ok := set.First(); ok && first.Priority > donors[i].Most {
				continue
			}
			o.lanes = append(o.lanes, laneOf{donor: &donors[i]})
			l := &o.lanes[len(o.lanes)-1]
			l.cursor.First(*set)
			w, _ := l.cursor.Item()
			o.heap = append(o.heap, nextOf{w, len(o.lanes) - 1})
		}
	}
	heap.Init(o.heap, earlier)
}

// next returns the next workload and the node of its queue.
func (o *order) next() (w *cluster.Workload, node int, ok bool) {
	if len(o.own.by) > 0 {
		return o.own.next()
	}
	if o.begun {
		l := &o.lanes[o.heap[0].lane]
		l.cursor.Next()
		if w, more := l.cursor.Item(); more && !o.ended && w.Priority <= l.donor.Most {
			o.heap[0].Workload = w
			heap.Fix(o.heap, 0, earlier)
		} else {
			o.heap = heap.Drop(o.heap, earlier)
		}
		o.ended = false
	}
	if o.begun = len(o.heap) > 0; !o.begun {
		return nil, -1, false
	}
	return o.heap[0].Workload, o.lanes[o.heap[0].lane].donor.node, true
}

// free reports whether the queue of the last one may give somebody whatever its quota says.
func (o *order) free() bool {
	if len(o.own.by) > 0 {
		return o.own.last.Free
	}
	return o.lanes[o.heap[0].lane].donor.Free
}

// close ends the lane, or the queue, of the last one.
func (o *order) close() {
	if o.ended = true; len(o.own.by) > 0 {
		o.own.close()
	}
}

// release drops the references to the cluster.
func (o *order) release() {
	clear(o.lanes[:cap(o.lanes)])
	clear(o.heap[:cap(o.heap)])
	o.lanes, o.heap = o.lanes[:0], o.heap[:0]
	o.own.release()
}

// begin sets the order; empty: the usual one.
func (o *order) begin(by []rules.Ordering) { o.own.begin(by) }

// change says that somebody was taken.
func (o *order) change(t *Taker, s *search.Search) {
	if o.own.moves {
		o.own.change(t, s)
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
