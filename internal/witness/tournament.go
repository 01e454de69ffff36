package witness

import (
	"cmp"
	"time"
)

// Package preemption, Fair sharing, step 1: "From the root down choose the child with the largest
// share, until a queue is reached."

// tournament says which queue is next to give a workload.
type tournament struct {
	*world
	at      time.Time
	waiting map[*node][]*candidate // by queue, in order
	out     map[*node]bool         // these nodes give nothing any more
	firsts  map[*node]*candidate   // by cohort
}

// newTournament begins with candidates, which are in the order of their queues.
func (f *fairSearch) newTournament(list []*candidate) *tournament {
	t := &tournament{world: f.world, at: f.at, firsts: f.firsts, waiting: map[*node][]*candidate{}, out: map[*node]bool{}}
	for _, c := range list {
		if !c.of.gone { // a replica, refused before its workload was taken as a whole
			t.waiting[c.of.home] = append(t.waiting[c.of.home], c)
		}
	}
	return t
}

// next returns the queue whose turn it is, nil if none is left. A queue without cohort is alone.
func (t *tournament) next() *node {
	root := t.own.root()
	if root == t.own {
		if len(t.waiting[root]) == 0 {
			return nil
		}
		return root
	}
	for !t.out[root] {
		if n := t.under(root); n != nil {
			return n
		}
	}
	return nil
}

// under goes down from a cohort. It returns nil if the cohort has nobody left.
func (t *tournament) under(cohort *node) (best *node) {
	for _, child := range cohort.children {
		if t.passes(child) && (best == nil || t.compare(child, best) < 0) {
			best = child
		}
	}
	switch {
	case best == nil:
		t.out[cohort] = true
		return nil
	case best.queue == nil:
		return t.under(best)
	}
	return best
}

// passes: "Skip children that borrow nothing, except the preemptor's queue and the cohorts above it,
// and queues without candidates." Who is skipped once is skipped for good.
func (t *tournament) passes(n *node) bool {
	borrows := t.share(n).borrows || n.above(t.own)
	if !borrows || n.queue != nil && len(t.waiting[n]) == 0 {
		t.out[n] = true
	}
	return !t.out[n]
}

// compare: the largest share first. "Ties: a cohort before a queue."
func (t *tournament) compare(a, b *node) int {
	if larger := cmp.Or(t.share(b).compare(t.share(a)), cmp.Compare(kindOf(a), kindOf(b))); larger != 0 {
		return larger
	}
	return t.compareEqual(a, b)
}

// compareEqual: "Of two queues the one whose next candidate is being evicted, then the one that is not
// the preemptor's, then by steps 4 to 6. Of two cohorts the one whose first workload is being evicted,
// then by steps 4 and 6, then the smaller name."
func (t *tournament) compareEqual(a, b *node) int {
	if a.queue != nil {
		x, y := t.waiting[a][0], t.waiting[b][0]
		return cmp.Or(
			cmp.Compare(number(!x.leaving), number(!y.leaving)),
			cmp.Compare(number(a == t.own), number(b == t.own)),
			compareAlike(x, y, t.at),
		)
	}
	x, y := t.firsts[a], t.firsts[b]
	if x == nil || y == nil {
		return cmp.Or(cmp.Compare(number(x == nil), number(y == nil)), cmp.Compare(a.name, b.name))
	}
	return cmp.Or(compareEvicted(x, y, t.at), cmp.Compare(a.name, b.name))
}

// firstWorkloads gives each cohort its first workload, before the request counts and before anyone is
// removed: "The first workload is taken from all that ever yield and use something, candidates or not,
// in borrowing queues under borrowing cohorts: in these a column without an entry counts, too."
func firstWorkloads(w *world, at time.Time) map[*node]*candidate {
	of := map[*node]*candidate{}
	for _, n := range w.cohorts {
		of[n] = firstUnder(w, n, at)
	}
	return of
}

func firstUnder(w *world, n *node, at time.Time) (first *candidate) {
	var list []*candidate
	for _, child := range n.children {
		if child.borrowsAny(w.allColumns()) {
			list = append(list, firstUnder(w, child, at))
		}
	}
	for _, r := range n.running {
		for _, c := range r.parts() { // replicas that were told to leave "are as an evicted workload"
			if !c.surplus() && everYields(c) {
				list = append(list, c)
			}
		}
	}
	for _, c := range list {
		if c != nil && (first == nil || compareEvicted(c, first, at) < 0) {
			first = c
		}
	}
	return first
}

func compareEvicted(a, b *candidate, at time.Time) int {
	return cmp.Or(cmp.Compare(number(!a.leaving), number(!b.leaving)), compareAlike(a, b, at))
}

// everYields reports whether a part of a workload may yield at some time, and uses something, zero included.
func everYields(c *candidate) bool {
	uses := false
	for i, p := range c.of.PodSets {
		uses = uses || len(p.Requests) > 0 && (c.podSet == whole || c.podSet == i)
	}
	return uses && (!c.of.NeverYields || c.leaving) && !c.of.home.queue.Inactive
}
