package rules

import (
	"github.com/cedesched/cede/internal/engine/right"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/queue/rules"
)

// ordered walks workloads in an order of the configuration's own: a heap has the queues by their next
// workloads. A queue is opened when its next one decides, not as long as earlier keys of the queue
// do. Keys of shares change when somebody is taken; most are the same for a whole queue.
type ordered struct {
	by        []rules.Ordering
	first     int  // the index in by of the first key that may differ inside a queue
	sides     bool // some key is a constraint on shares
	final     bool // some key is the final share, which changes with the preemptor's share: then no queue waits
	inQueue   queueOrder
	t         *Taker
	s         *search.Search
	phase     int
	quotaOnly bool
	queues    []group // a heap
	opened    []opened
	keys      []value
	begun     bool // the next one of the first queue was given already
	ends      bool // nobody else of its queue is given
	waits     bool // or not until the preemptor's share is smaller
	waiting   []group
	// used is how much of queues, waiting and opened was in use since the last release.
	used [3]int
	shareHeads
}

// group is a queue, with the keys of itself and of its next workload: keys[keys:]. Without donor it is a
// source of queues; see shareHeads.
type group struct {
	*donor
	keys  int // -1: nobody has compared them yet
	at    int // in opened, or in sources; -1: it is not open
	known bool
	next  *cluster.Workload // if known; nil: nobody is left
}

func (o *ordered) begin(by []rules.Ordering) {
	o.by, o.inQueue = by, queueOrderOf(by)
	o.sides = slices.ContainsFunc(by, func(b rules.Ordering) bool { return b.Key == rules.ByInitialShare || b.Key == rules.ByFinalShare })
	o.final = slices.ContainsFunc(by, func(b rules.Ordering) bool { return b.Key == rules.ByFinalShare })
	if o.first = slices.IndexFunc(by, func(b rules.Ordering) bool { return differsInQueue(b.Key) }); o.first < 0 {
		o.first = len(by)
	}
	o.shareHeads.begin(by)
}

// open begins a phase: all that are being evicted in the first, all others in the third.
func (o *ordered) open(t *Taker, s *search.Search, of *tier, phase int, quotaOnly bool) {
	o.t, o.s, o.phase, o.quotaOnly = t, s, phase, quotaOnly
	o.note()
	o.queues, o.opened, o.keys, o.waiting, o.begun = o.queues[:0], o.opened[:0], o.keys[:0], o.waiting[:0], false
	if phases[phase].own {
		return
	}
	for i := range of.donors {
		o.add(&of.donors[i])
	}
	if of.byHeads {
		o.openSources(of)
	}
	heap.Init(o.queues, o.earlier)
}

// add adds a queue in which somebody runs in the lanes of the phase to a list, which is no heap then.
func (o *ordered) add(d *donor) {
	running, lanes := o.s.Cluster.Running(d.node), &phases[o.phase].lanes
	if running.Lane(lanes[0]).Len()+running.Lane(lanes[1]).Len() > 0 {
		o.queues = append(o.queues, group{donor: d, keys: -1, at: -1})
		o.note()
	}
}

// compute computes the keys of a queue, if nobody has compared them yet.
func (o *ordered) compute(g *group) {
	if g.keys >= 0 {
		return
	}
	g.keys = len(o.keys)
	for _, key := range o.by {
		o.keys = append(o.keys, o.t.ofQueue(o.s, g.node, key.Key))
	}
}

// next returns the next workload and the node of its queue.
func (o *ordered) next() (w *cluster.Workload, node int, ok bool) {
	o.pass()
	for len(o.queues) > 0 {
		g := &o.queues[0]
		if g.donor == nil {
			o.expand()
			continue
		}
		if o.know(g); g.next != nil {
			o.begun, o.ends, o.waits = true, false, false
			return g.next, g.node, true
		}
		o.queues = heap.Drop(o.queues, o.earlier)
	}
	return nil, -1, false
}

// pass goes past the last one given.
func (o *ordered) pass() {
	if !o.begun {
		return
	}
	o.begun = false
	g := &o.queues[0]
	o.skip(g)
	if o.waits {
		o.waiting = append(o.waiting, *g)
		o.note()
	}
	if o.ends || o.waits {
		o.queues = heap.Drop(o.queues, o.earlier)
	} else {
		heap.Fix(o.queues, 0, o.earlier)
	}
}

// skip goes past the next one of a queue.
func (o *ordered) skip(g *group) {
	o.opened[g.at].at++
	g.known = false
}

// know finds the next one of a queue.
func (o *ordered) know(g *group) {
	if g.known {
		return
	}
	q := o.openQueue(g)
	if q.at == len(q.run) {
		o.read(g, q)
	}
	if g.known, g.next = true, nil; len(q.run) == 0 {
		return
	}
	next := q.run[q.at]
	g.next = next.Workload
	o.compute(g)
	for k, key := range o.by {
		if differsInQueue(key.Key) {
			o.keys[g.keys+k] = q.keys[next.at+k]
		}
	}
}

// earlier compares two queues by their next workloads.
func (o *ordered) earlier(a, b *group) bool {
	o.compute(a)
	o.compute(b)
	if a.donor == nil || b.donor == nil {
		return o.earlierSource(a, b)
	}
	x, y := o.keys[a.keys:], o.keys[b.keys:]
	if order := compareKeys(o.by[:o.first], x, y); order != 0 {
		return order < 0
	}
	o.know(a)
	o.know(b)
	if a.next == nil || b.next == nil {
		return a.next != nil
	}
	if order := compareKeys(o.by[o.first:], x[o.first:], y[o.first:]); order != 0 {
		return order < 0
	}
	return cluster.CompareIDs(a.next, b.next) < 0
}

// change says that the last one was taken, as a victim. A queue's own share changes with the victims of
// the queue alone; constraints on shares, with those of its side and of the preemptor's.
func (o *ordered) change(v *right.Victim) {
	before := len(o.queues)
	o.resume(v)
	o.begun = false
	o.skip(&o.queues[0])
	o.rekey(&o.queues[0])
	others := len(o.queues) > before
	for i := 1; i < len(o.queues) && o.sides; i++ {
		if g := &o.queues[i]; g.donor != nil {
			if of := victim(o.s, nil, g.node); affects(o.s, v, &of) {
				o.rekey(g)
				others = true
			}
		}
	}
	if others {
		heap.Init(o.queues, o.earlier)
	} else {
		heap.Fix(o.queues, 0, o.earlier)
	}
}

// resume lets queues that wait go on after the last one given, if it makes the preemptor's share smaller.
// While they wait nobody of them is taken, so the keys that they are compared by stay (see final).
func (o *ordered) resume(v *right.Victim) {
	left := o.waiting[:0]
	for _, g := range o.waiting {
		last := &o.queues[0]
		for o.know(&g); g.next != nil && o.earlier(&g, last); o.know(&g) {
			o.compute(last)
			if compareKeys(o.by[:o.first], o.keys[g.keys:], o.keys[last.keys:]) < 0 {
				g.next = nil
				break
			}
			o.skip(&g)
		}
		if side := victim(o.s, nil, g.node); g.next == nil {
			continue
		} else if helps(o.s, v, &side) {
			o.queues = append(o.queues, g)
			o.note()
		} else {
			left = append(left, g)
		}
	}
	o.waiting = left
}

// rekey sets the keys of shares of a queue.
func (o *ordered) rekey(g *group) {
	for k, key := range o.by {
		switch {
		case g.keys < 0 || !key.Key.OfShares():
		case !differsInQueue(key.Key):
			o.keys[g.keys+k] = o.t.ofQueue(o.s, g.node, key.Key)
		case g.at >= 0:
			o.sort(g, &o.opened[g.at])
			g.known = false
		}
	}
}

// note notes how much is in use.
func (o *ordered) note() {
	o.used = [...]int{max(o.used[0], len(o.queues)), max(o.used[1], len(o.waiting)), max(o.used[2], len(o.opened))}
}

// release drops the references to the cluster. It takes no longer after a larger decision.
func (o *ordered) release() {
	o.note()
	clear(o.queues[:o.used[0]])
	clear(o.waiting[:o.used[1]])
	for i := range o.opened[:o.used[2]] {
		q := &o.opened[:o.used[2]][i]
		clear(q.run[:cap(q.run)])
		q.lanes = [2]laneLeft{}
	}
	clear(o.sources[:o.usedSources])
	o.used, o.usedSources = [3]int{}, 0
	o.queues, o.waiting, o.opened, o.sources, o.by, o.t, o.s, o.of = o.queues[:0], o.waiting[:0], o.opened[:0], o.sources[:0], nil, nil, nil, nil
}
