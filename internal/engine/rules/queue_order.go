package rules

import (
	"cmp"
	"github.com/cedesched/cede/internal/engine/source"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/queue/rules"
)

// queueOrder is the order of the workloads of one queue by the keys that differ there. The index has
// lower priorities first, and of these those reserved later. As far as the keys begin like that, the
// queue is read in runs of equals, so that only the next ones are looked at; each run is sorted by the
// rest. Any other order is one run.
type queueOrder struct {
	// indexed is the number of keys that the index has: none, the priority, or the reservation, too.
	indexed int
	// whole: these are all, so that the index has the IDs, too, and nothing is sorted.
	whole bool
}

func queueOrderOf(by []rules.Ordering) (q queueOrder) {
	inside := 0 // the keys that differ
	for _, o := range by {
		if !differsInQueue(o.Key) {
			continue
		}
		switch descending := o.Direction == rules.Descending; {
		case inside == 0 && o.Key == rules.ByPriority && !descending, inside == 1 && q.indexed == 1 && o.Key == rules.ByAdmission && descending:
			q.indexed++
		}
		inside++
	}
	q.whole = q.indexed == 2 && inside == 2
	return q
}

// compare compares two workloads by the keys that the index has.
func (q queueOrder) compare(a, b *cluster.Workload) int {
	order := 0
	if q.indexed > 0 {
		order = cmp.Compare(a.Priority, b.Priority)
	}
	if q.indexed > 1 && order == 0 {
		order = cmp.Compare(instant.Rank(b.Reserved), instant.Rank(a.Reserved))
	}
	return order
}

// opened is what is left of a queue in a phase.
type opened struct {
	lanes [2]laneLeft
	least minimum.Runtime
	run   []keyed // sorted
	at    int     // of the next one in run
	keys  []value // of run, one for each key and workload
}

// keyed is a workload of a run with its keys: keys[at:].
type keyed struct {
	*cluster.Workload
	at int
}

// laneLeft is what is left of a lane.
type laneLeft struct {
	set    *cluster.LaneSet
	cursor cluster.LaneCursor
	known  bool
	next   *cluster.Workload // if known, the next one; nil: nobody is left
}

// openQueue opens a queue, if it is not open.
func (o *ordered) openQueue(g *group) *opened {
	if g.at < 0 {
		g.at = len(o.opened)
		o.opened = source.Grown(o.opened)
		q := &o.opened[g.at]
		q.least, q.run, q.at = minimumOf(o.s, g.node), q.run[:0], 0
		for i, lane := range phases[o.phase].lanes {
			l := &q.lanes[i]
			l.set, l.known = o.s.Cluster.Running(g.node).Lane(lane), false
			l.cursor.First(*l.set)
		}
	}
	return &o.opened[g.at]
}

// settle moves a lane to the next one from the cursor on that uses what needs preemption and that no
// minimum runtime protects.
func (o *ordered) settle(g *group, q *opened, l *laneLeft) {
	if l.known {
		return
	}
	for l.known, l.next = true, nil; ; {
		w, ok := l.cursor.Item()
		if !ok {
			return
		}
		o.s.Steps++
		switch {
		case w.Priority > g.Most:
			return
		case o.quotaOnly && !o.s.UsesNeeded(w.Loads):
			l.cursor.NextIn(o.s.UsesNeeded)
		case !w.Facts.Evicted && protects(q.least, w, o.s.Now):
			passProtected(&l.cursor, l.set, w, q.least, o.s.Now)
		default:
			l.next = w
			return
		}
	}
}

// read reads the next run of a queue.
func (o *ordered) read(g *group, q *opened) {
	q.run, q.keys, q.at = q.run[:0], q.keys[:0], 0
	var first *cluster.Workload
	for i := range q.lanes {
		o.settle(g, q, &q.lanes[i])
		if w := q.lanes[i].next; w != nil && (first == nil || o.inQueue.compare(w, first) < 0) {
			first = w
		}
	}
	if first == nil {
		return
	}
	for i := range q.lanes {
		for l := &q.lanes[i]; l.next != nil && o.inQueue.compare(l.next, first) == 0; {
			q.run = append(q.run, keyed{l.next, len(q.keys)})
			for _, key := range o.by {
				q.keys = append(q.keys, ofWorkload(o.s, l.next, key.Key))
			}
			l.cursor.Next()
			if l.known = false; o.inQueue.whole {
				return
			}
			o.settle(g, q, l)
		}
	}
	o.sort(g, q)
}

// sort sorts what is left of a run by the shares as they are now.
func (o *ordered) sort(g *group, q *opened) {
	left := q.run[q.at:]
	for k, key := range o.by {
		if key.Key == rules.ByFinalShare {
			for _, e := range left {
				v := victim(o.s, e.Workload, g.node)
				q.keys[e.at+k] = value{whole: oneIf(o.t.quotaOf(o.s, &v, o.s.Taken).Meets(rules.DRSLessThanOrEqualToFinalShare))}
			}
		}
	}
	heap.Sort(left, func(a, b *keyed) bool {
		return cmp.Or(compareKeys(o.by, q.keys[a.at:], q.keys[b.at:]), cluster.CompareIDs(a.Workload, b.Workload)) < 0
	})
}
