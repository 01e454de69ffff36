package rules

import (
	"cmp"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/queue/rules"
)

// indexed is how far the order inside a queue is that of the index: lower priorities first, and of these
// those reserved later. As far as the keys begin like that, a queue is read in runs of equals, so that
// only the next ones are looked at; each run is sorted by the rest. Any other order is one run.
type indexed struct {
	// keys is the number of keys that the index has: none, the priority, or the reservation, too.
	keys int
	// whole: these are all, so that the index has the IDs, too, and no run is sorted.
	whole bool
}

func indexedOf(by []rules.Ordering) (q indexed) {
	inside := 0 // the keys that differ
	for _, o := range by {
		if differsInQueue(o.Key) {
			if inside == q.keys && isIndexed(o, q.keys) {
				q.keys++
			}
			inside++
		}
	}
	q.whole = q.keys == 2 && inside == 2
	return q
}

// isIndexed reports whether a key is the n-th of the index.
func isIndexed(o rules.Ordering, n int) bool {
	if n == 0 {
		return o.Key == rules.ByPriority && o.Direction != rules.Descending
	}
	return n == 1 && o.Key == rules.ByAdmission && o.Direction == rules.Descending
}

// compare compares two workloads by the keys that the index has.
func (q indexed) compare(a, b *cluster.Workload) int {
	order := 0
	if q.keys > 0 {
		order = cmp.Compare(a.Priority, b.Priority)
	}
	if q.keys > 1 && order == 0 {
		order = cmp.Compare(instant.Rank(b.Reserved), instant.Rank(a.Reserved))
	}
	return order
}

// opened is what is left of a queue in a phase.
type opened struct {
	lanes [2]laneLeft
	donor right.Donor
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
	next   *cluster.Workload // if known, the next candidate; nil: none is left
}

// openQueue opens a queue, if it is not open.
func (o *walk) openQueue(g *group) *opened {
	if g.of < 0 {
		g.of = len(o.opened)
		o.opened = source.Grown(o.opened)
		o.used = max(o.used, len(o.opened))
		q := &o.opened[g.of]
		q.donor, q.run, q.at = o.s.DonorOfRules(g.node, g.common), q.run[:0], 0
		for i, lane := range o.lanes {
			l := &q.lanes[i]
			l.set, l.known = o.s.Cluster.Running(g.node).Lane(lane), false
			l.cursor.First(*l.set)
		}
	}
	return &o.opened[g.of]
}

// settle moves a lane to the next workload from the cursor on that uses what needs preemption and that no
// minimum runtime or guard protects.
func (l *laneLeft) settle(o *walk, g *group, q *opened) {
	if l.known {
		return
	}
	for l.known, l.next = true, nil; ; {
		w, ok := l.cursor.Item()
		if !ok {
			return
		}
		if o.s.Steps++; w.Priority > g.Most {
			return
		}
		if !o.all && !o.s.UsesNeeded(w.Loads) {
			l.cursor.NextIn(o.s.UsesNeeded)
			continue
		}
		switch v := o.s.VerdictByRules(&q.donor, w); v.Rule {
		case 0:
			l.next = w
			return
		case trace.MinRuntime:
			q.donor.PassProtected(&l.cursor, l.set, w, o.s.Now)
		default:
			l.cursor.Next()
		}
	}
}

// read reads the next run of a queue.
func (q *opened) read(o *walk, g *group) {
	q.run, q.keys, q.at = q.run[:0], q.keys[:0], 0
	var first *cluster.Workload
	for i := range q.lanes {
		l := &q.lanes[i]
		l.settle(o, g, q)
		if l.next != nil && (first == nil || o.indexed.compare(l.next, first) < 0) {
			first = l.next
		}
	}
	if first == nil {
		return
	}
	for i := range q.lanes {
		for l := &q.lanes[i]; l.next != nil && o.indexed.compare(l.next, first) == 0; {
			q.run = append(q.run, keyed{l.next, len(q.keys)})
			for _, key := range o.by {
				q.keys = append(q.keys, ofWorkload(o.s, l.next, key.Key))
			}
			l.cursor.Next()
			if l.known = false; o.indexed.whole {
				return
			}
			l.settle(o, g, q)
		}
	}
	q.sort(o, g)
}

// sort sorts what is left of a run by the shares as they are now.
func (q *opened) sort(o *walk, g *group) {
	left := q.run[q.at:]
	for k, key := range o.by {
		if key.Key == rules.ByFinalShare {
			for _, e := range left {
				v := g.victim(e.Workload)
				q.keys[e.at+k] = value{whole: oneIf(o.t.quotaOf(o.s, &v, o.s.Taken).Meets(rules.DRSLessThanOrEqualToFinalShare))}
			}
		}
	}
	heap.Sort(left, func(a, b *keyed) bool {
		return cmp.Or(compareKeys(o.by, q.keys[a.at:], q.keys[b.at:]), cluster.CompareIDs(a.Workload, b.Workload)) < 0
	})
}
