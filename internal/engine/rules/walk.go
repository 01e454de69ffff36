package rules

import (
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue/rules"
)

// phases are the parts of a tier, in order: workloads that are being evicted, then the others.
var phases = [...][2]cluster.Lane{
	{cluster.Evicted, cluster.EvictedUnreserved},
	{cluster.Active, cluster.ActiveUnreserved},
}

// usual is the order if the configuration has none: other queues first, lower effective priority,
// later reservation (a missing one is the latest); then UID and ID, as in every order (KEP-83,
// Preemption, step 3).
var usual = []rules.Ordering{
	{Key: rules.ByOtherQueue, Direction: rules.Descending}, {Key: rules.ByPriority}, {Key: rules.ByAdmission, Direction: rules.Descending},
}

// walk yields the candidates of a phase in order. A heap has the queues by their next candidates. The
// keys of a queue are compared before those of its workloads, so a queue is read only once its own keys
// tie. A cohort of which the queues come later is in the heap as a branch; see branches.go.
type walk struct {
	by      []rules.Ordering
	inside  int  // the index in by of the first key that may differ inside a queue
	shares  bool // some key is a constraint on shares
	final   bool // some key is the final share, which changes with the preemptor's share: then no queue waits
	indexed indexed
	t       *Taker
	s       *search.Search
	lanes   *[2]cluster.Lane
	// all: candidates need not use what needs preemption.
	all     bool
	heap    []group
	opened  []opened
	keys    []value
	given   bool // the next candidate of the first queue was given already
	parked  []group
	blocked bool // some group was parked when it was added
	used    int  // the most opened queues since the last drop
	branches
}

// group is a queue with the keys of its next candidate, keys[at:]; or a branch.
type group struct {
	*donor                   // nil: a branch
	at     int               // in keys; -1: not computed yet
	of     int               // in opened, or in the list of branches; -1: not open
	known  bool              // next is
	next   *cluster.Workload // nil: no candidate is left
}

// begin sets the order.
func (o *walk) begin(by []rules.Ordering) {
	if o.by = by; len(by) == 0 {
		o.by = usual
	}
	has := func(key rules.OrderingKey) bool {
		return slices.ContainsFunc(o.by, func(b rules.Ordering) bool { return b.Key == key })
	}
	o.final = has(rules.ByFinalShare)
	o.shares = o.final || has(rules.ByInitialShare)
	if o.inside = slices.IndexFunc(o.by, func(b rules.Ordering) bool { return differsInQueue(b.Key) }); o.inside < 0 {
		o.inside = len(o.by)
	}
	o.indexed = indexedOf(o.by)
	o.bound = boundOf(o.by)
}

// open begins a phase of a tier.
func (o *walk) open(t *Taker, s *search.Search, of *tier, phase int, all bool) {
	o.t, o.s, o.lanes, o.all = t, s, &phases[phase], all
	o.heap, o.opened, o.keys, o.parked, o.given = o.heap[:0], o.opened[:0], o.keys[:0], o.parked[:0], false
	o.blocked = false
	for i := range of.donors {
		o.add(&of.donors[i])
	}
	if of.byHeads {
		o.openBranches(of)
	}
	heap.Init(o.heap, o.earlier)
}

// add adds a queue to a list, which is no heap then, if a workload in the lanes of the phase may be accepted
// by its priority. It is parked while the preemptor lacks the capacity that every selector asks for.
func (o *walk) add(d *donor) {
	running := o.s.Cluster.Running(d.node)
	for _, lane := range o.lanes {
		if w, ok := running.Lane(lane).First(); !ok || w.Priority > d.Most {
			continue
		}
		g := group{donor: d, at: -1, of: -1}
		if o.lacks(&d.Reach, d.common) {
			o.parked, o.blocked = append(o.parked, g), true
		} else {
			o.heap = append(o.heap, g)
		}
		return
	}
}

// next returns the next candidate and its queue.
func (o *walk) next() (w *cluster.Workload, d *donor, ok bool) {
	if o.given {
		o.skip(&o.heap[0])
		heap.Fix(o.heap, 0, o.earlier)
	}
	for o.given = false; len(o.heap) > 0; {
		g := &o.heap[0]
		if g.donor == nil {
			o.expand()
			continue
		}
		if o.know(g); g.next != nil {
			o.given = true
			return g.next, g.donor, true
		}
		o.heap = heap.Drop(o.heap, o.earlier)
	}
	return nil, nil, false
}

// end drops the queue of the last candidate.
func (o *walk) end() {
	o.heap, o.given = heap.Drop(o.heap, o.earlier), false
}

// park drops the queue of the last candidate until the preemptor's share is smaller. It has no effect if
// a key changes with that share.
func (o *walk) park() {
	if o.final {
		return
	}
	g := o.heap[0]
	o.skip(&g)
	o.parked = append(o.parked, g)
	o.end()
}

// skip goes past the next candidate of a queue.
func (o *walk) skip(g *group) {
	o.opened[g.of].at++
	g.known = false
}

// compute computes the keys of a queue.
func (o *walk) compute(g *group) {
	if g.at >= 0 {
		return
	}
	g.at = len(o.keys)
	for _, key := range o.by {
		o.keys = append(o.keys, o.t.ofDonor(o.s, g.donor, key.Key))
	}
}

// know finds the next candidate of a queue.
func (o *walk) know(g *group) {
	if g.known {
		return
	}
	q := o.openQueue(g)
	if q.at == len(q.run) {
		q.read(o, g)
	}
	if g.known, g.next = true, nil; len(q.run) == 0 {
		return
	}
	next := q.run[q.at]
	g.next = next.Workload
	o.compute(g)
	for k := o.inside; k < len(o.by); k++ {
		if differsInQueue(o.by[k].Key) {
			o.keys[g.at+k] = q.keys[next.at+k]
		}
	}
}

// earlier compares two groups by their next candidates.
func (o *walk) earlier(a, b *group) bool {
	o.compute(a)
	o.compute(b)
	if a.donor == nil || b.donor == nil {
		return o.earlierBranch(a, b)
	}
	x, y := o.keys[a.at:], o.keys[b.at:]
	if order := compareKeys(o.by[:o.inside], x, y); order != 0 {
		return order < 0
	}
	o.know(a)
	o.know(b)
	if a.next == nil || b.next == nil {
		return a.next != nil
	}
	x, y = o.keys[a.at:], o.keys[b.at:]
	if order := compareKeys(o.by[o.inside:], x[o.inside:], y[o.inside:]); order != 0 {
		return order < 0
	}
	return cluster.CompareIDs(a.next, b.next) < 0
}

// change says that the last candidate was taken, as a victim. A queue's own share changes with the
// victims of the queue alone; constraints on shares, with those of its side and of the preemptor's.
func (o *walk) change(v *right.Victim) {
	before := len(o.heap)
	o.resume(v)
	o.given = false
	o.skip(&o.heap[0])
	o.rekey(&o.heap[0])
	others := len(o.heap) > before
	for i := 1; i < len(o.heap) && o.shares; i++ {
		if g := &o.heap[i]; g.donor != nil && affects(o.s, v, g.common, g.side) {
			o.rekey(g)
			others = true
		}
	}
	if others {
		heap.Init(o.heap, o.earlier)
	} else {
		heap.Fix(o.heap, 0, o.earlier)
	}
}

// resume lets parked groups go on after the last candidate, if it makes the preemptor's share smaller.
// While they are parked none of their workloads is taken, so their keys stay.
func (o *walk) resume(v *right.Victim) {
	left, last := o.parked[:0], o.heap[0]
	for _, g := range o.parked {
		switch {
		case g.donor != nil && !helps(o.s, v, g.common), g.donor == nil && o.lacks(&o.reach, o.list[g.of].common):
			left = append(left, g)
		case g.donor == nil:
			o.list[g.of].after = o.copied(&last)
			o.heap = append(o.heap, g)
		case o.skipTo(&g, &last):
			o.heap = append(o.heap, g)
		}
	}
	o.parked = left
}

// copied returns a group with keys of its own, which stay.
func (o *walk) copied(g *group) group {
	of := *g
	of.at = len(o.keys)
	o.keys = append(o.keys, o.keys[g.at:][:len(o.by)]...)
	return of
}

// skipTo skips the candidates of a queue that come before another candidate. It returns false if none is
// left.
func (o *walk) skipTo(g, last *group) bool {
	for o.know(g); g.next != nil && o.earlier(g, last); o.know(g) {
		if compareKeys(o.by[:o.inside], o.keys[g.at:], o.keys[last.at:]) < 0 {
			return false // and so do all that follow
		}
		o.skip(g)
	}
	return g.next != nil
}

// lacks reports whether BorrowingCapacityFromPreemptor does not hold below a common cohort, and every
// selector asks for it. In an order by shares no group is parked before it is read: its keys would be
// those of a later time.
func (o *walk) lacks(r *selectors.Reach, common int) bool {
	return !o.shares && o.t.constrained && common >= 0 && !r.Free && !r.Others && !o.t.hasCapacity(o.s, common)
}

// rekey sets the keys of shares of a queue.
func (o *walk) rekey(g *group) {
	for k, key := range o.by {
		switch {
		case g.at < 0 || !key.Key.OfShares():
		case !differsInQueue(key.Key):
			o.keys[g.at+k] = o.t.ofDonor(o.s, g.donor, key.Key)
		case g.of >= 0:
			o.opened[g.of].sort(o, g)
			g.known = false
		}
	}
}

// drop drops the references to the cluster.
func (o *walk) drop() {
	clear(o.heap[:cap(o.heap)])
	clear(o.parked[:cap(o.parked)])
	for i := range o.opened[:o.used] {
		q := &o.opened[:o.used][i]
		clear(q.run[:cap(q.run)])
		q.lanes = [2]laneLeft{}
	}
	o.branches.drop()
	o.heap, o.parked, o.opened, o.used = o.heap[:0], o.parked[:0], o.opened[:0], 0
	o.by, o.t, o.s = nil, nil, nil
}
