package rules

import (
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/queue/rules"
)

// branches finds the other queues that a tier reaches, by the heads of the cohorts above the preemptor's
// queue, and of other roots (see cluster.Head): a queue is opened when its first workload is the next of
// all. That needs an order that begins with the priority.
type branches struct {
	// bound is the number of the first keys of which a branch has a lower bound; 0: the order does not
	// begin like that.
	bound int
	list  []branch
	found []donor // by them
	of    *tier
	reach selectors.Reach // of the tier in other queues
	met   search.Marks    // the queues that have groups
}

// branch is a lane of the children of a cohort.
type branch struct {
	cursor cluster.HeadCursor
	lane   cluster.Lane
	except int // the child above the preemptor's queue
	common int // the lowest cohort above its queues and the preemptor's; -1: there is none
	// after is the candidate that all under the branch come after, if it was parked; its donor is nil if not.
	after group
}

// boundOf returns how far an order is that of heads.
func boundOf(by []rules.Ordering) (bound int) {
	indexed := 0
	for i, o := range by {
		switch {
		case o.Key == rules.ByOtherQueue:
		case isIndexed(o, indexed):
			indexed++
			bound = i + 1
		default:
			return bound
		}
	}
	return bound
}

// extentOf returns which other queues have the workloads that a tier may accept.
func extentOf(r *selectors.Reach) cluster.Extent {
	if r.Free {
		return cluster.AllChildren
	}
	return cluster.Borrowers
}

// openBranches adds the branches of a phase.
func (o *walk) openBranches(of *tier) {
	s, b := o.s, &o.branches
	b.of, b.reach, b.list, b.found = of, of.reach().Elsewhere(), b.list[:0], b.found[:0]
	b.met.Next(s.View.Tree.Len())
	for i := range of.donors {
		b.met.Add(of.donors[i].node)
	}
	from := s.Request.Queue
	for n := s.Cluster.Tree.Parent(from); n >= 0; from, n = n, s.Cluster.Tree.Parent(n) {
		o.addBranches(n, from, n)
	}
	if of.reach().OtherTrees() {
		for cohort := range s.Cluster.Cohorts {
			if cohort != from && s.Cluster.Tree.Parent(cohort) < 0 {
				o.addBranches(cohort, -1, -1)
			}
		}
	}
}

// addBranches adds the lanes of a cohort's children to a list, which is no heap then.
func (o *walk) addBranches(cohort, except, common int) {
	for _, lane := range o.lanes {
		o.addBranch(cohort, branch{lane: lane, except: except, common: common})
	}
}

// addBranch adds a lane of a cohort's children. It is parked while the preemptor lacks the capacity that
// every selector asks for.
func (o *walk) addBranch(cohort int, of branch) {
	b := &o.branches
	reach := o.s.Cluster.ReachOf(extentOf(&b.reach), cohort)
	if !reach.Has(of.lane) {
		return
	}
	n := len(b.list)
	b.list = source.Grown(b.list)
	at := &b.list[n]
	at.lane, at.except, at.common, at.after = of.lane, of.except, of.common, of.after
	cluster.SeekLane(&at.cursor, reach.Heads, of.lane)
	switch g := (group{at: len(o.keys), of: n, known: true}); {
	case !o.settleBranch(&g):
	case o.lacks(&b.reach, of.common):
		o.parked, o.blocked = append(o.parked, g), true
	default:
		o.heap = append(o.heap, g)
	}
}

// settleBranch moves a branch to the next child that may have candidates, and sets its keys.
func (o *walk) settleBranch(g *group) (ok bool) {
	b := &o.branches.list[g.of]
	for ; ; b.cursor.Next() {
		head, ok := b.cursor.Item()
		if !ok || head.Lane != b.lane || head.Workload.Priority > o.reach.Most {
			return false
		}
		if node := int(head.Node); node != b.except && !(o.s.Cluster.IsQueue(node) && o.met.Has(node)) {
			g.next = head.Workload
			o.bind(g)
			return true
		}
	}
}

// bind sets the keys of a branch: those of the candidates under it are no less.
func (o *walk) bind(g *group) {
	o.keys = slices.Grow(o.keys, len(o.by))
	if g.at == len(o.keys) {
		o.keys = o.keys[:g.at+len(o.by)]
	}
	for k, key := range o.by[:o.bound] {
		if key.Key == rules.ByOtherQueue {
			o.keys[g.at+k] = value{whole: 1}
		} else {
			o.keys[g.at+k] = ofWorkload(o.s, g.next, key.Key)
		}
	}
}

// earlierBranch compares two groups, of which at least one is a branch. The keys of a branch are lower
// bounds, so ties expand it first.
func (o *walk) earlierBranch(a, b *group) bool {
	first := min(o.inside, o.bound)
	if order := compareKeys(o.by[:first], o.keys[a.at:], o.keys[b.at:]); order != 0 {
		return order < 0
	}
	for _, g := range [...]*group{a, b} {
		if g.donor != nil {
			o.know(g)
		}
	}
	if a.next == nil || b.next == nil {
		return a.next != nil
	}
	if order := compareKeys(o.by[first:o.bound], o.keys[a.at+first:], o.keys[b.at+first:]); order != 0 {
		return order < 0
	}
	if o.indexed.whole && o.bound == len(o.by) {
		if order := cluster.CompareIDs(a.next, b.next); order != 0 {
			return order < 0
		}
	}
	return a.donor == nil && b.donor != nil
}

// expand opens the next child of the branch at the top of the heap. With constraints on quota a child
// that borrows nothing has no candidates, and it does not borrow again while others are taken.
func (o *walk) expand() {
	g := &o.heap[0]
	b := &o.branches.list[g.of]
	head, _ := b.cursor.Item()
	of := branch{lane: b.lane, except: b.except, common: b.common, after: b.after}
	b.cursor.Next()
	if o.settleBranch(g) {
		heap.Fix(o.heap, 0, o.earlier)
	} else {
		o.heap = heap.Drop(o.heap, o.earlier)
	}
	before, node := len(o.heap), int(head.Node)
	switch within := o.s.View.WithinNominal(node, o.s.Needs); {
	case within && !o.reach.Free:
	case !o.s.Cluster.IsQueue(node):
		o.addBranch(node, of)
	case o.met.Add(node):
		d := donorAt(o.s, node, o.branches.of.reach().Of(o.s.Cluster.Queue(node).Name))
		if d.Any && (!within || d.Free) {
			o.found = append(o.found, d) // those before keep their place if the list moves
			o.add(&o.found[len(o.found)-1])
		}
	}
	if len(o.heap) > before {
		g := o.heap[before]
		o.heap = o.heap[:before]
		if of.after.donor == nil || g.donor == nil || o.skipTo(&g, &of.after) {
			o.heap = heap.Push(o.heap, g, o.earlier)
		}
	}
}

// drop drops the references to the cluster.
func (b *branches) drop() {
	clear(b.list[:cap(b.list)])
	b.list, b.found, b.of = b.list[:0], b.found[:0], nil
}
