package queues

import (
	"math"
	"slices"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

type column = quota.FlavorResource

// node is a queue or a cohort of the quota tree.
type node struct {
	name     string
	isQueue  bool
	parent   *node
	children []*node
	quotas   map[column]quota.Quota
	weight   float64
	minimum  minruntime.Settings
	// used is what the workloads of a queue take; for a cohort, what its members use beyond
	// their local quotas. Both with what is reserved.
	used map[column]int64
	// What follows from the quotas alone, computed when it is first asked for.
	subtrees map[column]int64
	lendable map[string]int64 // by resource: what the members of a cohort could use of it
}

func newNode(name string, isQueue bool, quotas []quota.Quota, weight quota.OptionalFloat64, minimum minruntime.Settings) *node {
	n := &node{
		name: name, isQueue: isQueue, quotas: map[column]quota.Quota{}, weight: weight.Or(1), minimum: minimum,
		used: map[column]int64{}, subtrees: map[column]int64{},
	}
	for _, q := range quotas {
		n.quotas[q.FlavorResource()] = q
	}
	return n
}

// subtree is the quota of a node with what its members lend.
func (n *node) subtree(c column) int64 {
	total, known := n.subtrees[c]
	if known {
		return total
	}
	total = n.quotas[c].Nominal
	for _, child := range n.children {
		total = quota.Add(total, child.lends(c))
	}
	n.subtrees[c] = total
	return total
}

// lends is the part of its quota that a node leaves to its parent.
func (n *node) lends(c column) int64 {
	return min(n.subtree(c), n.quotas[c].LendingLimit.Or(quota.Unlimited))
}

// local is the part that it does not leave.
func (n *node) local(c column) int64 {
	if limit, ok := n.quotas[c].LendingLimit.Get(); ok {
		return max(0, quota.Sub(n.subtree(c), limit))
	}
	return 0
}

// beyond is what a node uses of its parent.
func (n *node) beyond(c column) int64 { return max(0, quota.Sub(n.used[c], n.local(c))) }

// localLeft is what is left of the local quota.
func (n *node) localLeft(c column) int64 { return max(0, quota.Sub(n.local(c), n.used[c])) }

// move adds to the usage of a node and of those above it.
func (n *node) move(c column, amount int64) {
	for n != nil && amount != 0 {
		before := n.beyond(c)
		n.used[c] += amount
		amount = n.beyond(c) - before
		n = n.parent
	}
}

// available is what a node can still take.
func (n *node) available(c column) int64 {
	if n.parent == nil {
		return quota.Sub(n.subtree(c), n.used[c])
	}
	through := quota.Unlimited
	if limit, ok := n.quotas[c].BorrowingLimit.Get(); ok {
		through = quota.Add(quota.Sub(n.lends(c), n.beyond(c)), limit)
	}
	return quota.Add(n.localLeft(c), min(through, n.parent.available(c)))
}

// potential is what a node could use if nothing ran.
func (n *node) potential(c column) int64 {
	if n.parent == nil {
		return n.subtree(c)
	}
	most := quota.Unlimited
	if limit, ok := n.quotas[c].BorrowingLimit.Get(); ok {
		most = quota.Add(n.subtree(c), limit)
	}
	return min(most, quota.Add(n.local(c), n.parent.potential(c)))
}

// borrows reports whether a node uses more than its quota of one of the columns.
func (n *node) borrows(columns []column) bool {
	for _, c := range columns {
		if n.used[c] > n.subtree(c) {
			return true
		}
	}
	return false
}

// borrowsAnything is borrows for all columns.
func (n *node) borrowsAnything() bool {
	for c, used := range n.used {
		if used > n.subtree(c) {
			return true
		}
	}
	return false
}

// height is that of the subtree: 0 for a queue.
func (n *node) height() (h int) {
	for _, child := range n.children {
		h = max(h, child.height()+1)
	}
	return h
}

func (n *node) root() *node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// isUnder reports whether a node is another one or below it.
func (n *node) isUnder(above *node) bool {
	for ; n != nil; n = n.parent {
		if n == above {
			return true
		}
	}
	return false
}

// withQuota calls yield for each column of which a node or one below it has a quota,
// possibly more than once.
func (n *node) withQuota(yield func(column)) {
	for c := range n.quotas {
		yield(c)
	}
	for _, child := range n.children {
		child.withQuota(yield)
	}
}

// share is the dominant share of a node; see [quota.Share].
func (n *node) share() quota.Share {
	s := quota.Share{Weight: n.weight}
	if n.parent == nil {
		return s
	}
	if n.parent.lendable == nil {
		n.parent.lendable = map[string]int64{}
		seen := map[column]bool{}
		n.root().withQuota(func(c column) {
			if !seen[c] {
				seen[c] = true
				n.parent.lendable[c.Resource] = quota.Add(n.parent.lendable[c.Resource], n.parent.potential(c))
			}
		})
	}
	borrowed := map[column]int64{}
	n.withQuota(func(c column) { borrowed[c] = max(0, quota.Sub(n.used[c], n.subtree(c))) })
	byResource := map[string]int64{}
	for c, amount := range borrowed {
		byResource[c.Resource] = quota.Add(byResource[c.Resource], amount)
	}
	for resource, amount := range byResource {
		s.Borrows = s.Borrows || amount > 0
		if lendable := n.parent.lendable[resource]; lendable > 0 {
			s.Ratio = max(s.Ratio, float64(amount)*1000/float64(lendable))
		}
	}
	return s
}

// running is what of an admitted workload stays, or the replicas of one of its pod sets that are
// leaving; and what of that is gone for now.
type running struct {
	*workload.Workload
	queue   *node
	leaving string // the pod set; empty: it stays
	part    int    // the number of the pod set, from 1; 0: it stays
	of      *running
	parts   []*running // of what stays: what leaves
	whole   bool       // all of it
	fewer   []int64    // replicas by pod set
	runs    []int64    // replicas by pod set that count in the usage
}

// podSetOf names a pod set of a workload.
type podSetOf struct{ workload, podSet string }

func newRunning(w *workload.Workload, queue *node) *running {
	r := &running{Workload: w, queue: queue, fewer: make([]int64, len(w.PodSets)), runs: make([]int64, len(w.PodSets))}
	r.settle()
	return r
}

// leavingParts makes the leaving replicas of a workload, by pod set: they are as an evicted workload
// of its own ("leaving is leaving").
func (r *running) leavingParts() []*running {
	for i := range r.PodSets {
		if p := r.PodSets[i]; p.Terminating > 0 && !r.Evicted {
			p.Count, p.Terminating, p.MinCount = p.Terminating, 0, quota.OptionalInt64{}
			part := *r.Workload
			part.Evicted, part.NeverYields, part.PodSets = true, false, []workload.PodSet{p}
			of := newRunning(&part, r.queue)
			of.leaving, of.part, of.of = p.Name, 1+i, r
			r.parts = append(r.parts, of)
		}
	}
	return r.parts
}

// total returns what a pod set takes of a resource, without replicas that are leaving.
func (r *running) total(podSet int, amount int64) int64 {
	p := &r.PodSets[podSet]
	if r.Evicted || p.Totals {
		return p.Total(amount)
	}
	return quota.Mul(p.Count-p.Terminating, amount)
}

// Usage returns what is neither leaving nor a part of its own.
func (r *running) Usage() []quota.Amount {
	w := *r.Workload
	w.PodSets = slices.Clone(w.PodSets)
	for i := range w.PodSets {
		if p := &w.PodSets[i]; !w.Evicted {
			p.Count, p.Terminating = p.Count-p.Terminating, 0
		}
	}
	return w.Usage()
}

// set says whether the whole workload is gone.
func (r *running) set(whole bool) {
	if r.whole == whole {
		return
	}
	r.whole = whole
	r.settle()
	for _, part := range r.parts {
		part.settle()
	}
}

// tell tells the room what is gone of the workload. What leaves and what yields besides are replicas of one
// pod set, of which a room knows the order; a room that does not know replicas keeps them all.
func (r *running) tell(room Room) {
	if r.of != nil {
		r = r.of
	}
	if r.whole {
		room.Remove(r.ID)
	} else {
		room.Restore(r.ID)
	}
	byReplicas, ok := room.(ReplicaRoom)
	for i := range r.PodSets {
		p, gone := &r.PodSets[i], r.fewer[i]
		for _, part := range r.parts {
			if part.part == 1+i && part.whole {
				gone += p.Terminating
			}
		}
		if ok && (p.Surplus() > 0 || p.Terminating > 0) {
			byReplicas.SetRemoved(r.ID, p.Name, gone)
		}
	}
}

// goesAlong reports whether it is what leaves of a workload that goes whole.
func (r *running) goesAlong() bool { return r.of != nil && r.of.whole }

// settle brings the usage in line with what is gone.
func (r *running) settle() {
	for i := range r.PodSets {
		p, want := &r.PodSets[i], int64(0)
		if !r.whole && !r.goesAlong() {
			want = r.total(i, 1) - r.fewer[i]
		}
		for _, a := range p.Requests {
			r.queue.move(a.FlavorResource(), (want-r.runs[i])*a.Amount)
		}
		r.runs[i] = want
	}
}

// ask counts the pending workload as running, or no longer.
func (j *judge) ask(times int64) {
	for _, a := range j.asked {
		amount := a.Amount
		for n := j.queue; n != nil && times > 0; n = n.parent { // the sum stays an int64
			amount = min(amount, math.MaxInt64-n.used[a.FlavorResource()])
		}
		if times > 0 {
			j.added[a.FlavorResource()] = amount
		}
		j.queue.move(a.FlavorResource(), times*j.added[a.FlavorResource()])
	}
}
