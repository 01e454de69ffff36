package rules

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/search"
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

// walk yields the candidates of a phase in order. Keys of shares change while victims are taken: the next
// candidate is the first by the shares as they are then. Candidates of which these keys are always the same are in one
// group, which is sorted by the other keys once; the groups are sorted by their first candidates.
type walk struct {
	by     []rules.Ordering
	shares bool // some key is of shares
	t      *Taker
	s      *search.Search
	list   []candidate
	keys   []value // as many for each candidate as there are in by
	groups []group // a heap
	used   bool    // the first candidate of the first group was yielded
	stale  bool    // a victim was taken since the keys of shares were computed
}

// candidate is a workload that yields if rules accept it.
type candidate struct {
	*cluster.Workload
	donor donor
	at    int // its keys: keys[at:]
}

// group is a part of the list: a heap by the keys that are not of shares. Of these keys, the first candidate alone has
// the values.
type group []candidate

// begin sets the order.
func (o *walk) begin(by []rules.Ordering) {
	if o.by = by; len(by) == 0 {
		o.by = usual
	}
	o.shares = slices.ContainsFunc(o.by, func(b rules.Ordering) bool { return b.Key.OfShares() })
}

// open begins a phase of a tier: it looks at each workload of the donors. Without all, only those that use
// what needs preemption are candidates. Whom a minimum runtime or a guard protects is none.
func (o *walk) open(t *Taker, s *search.Search, donors []donor, phase int, all bool) {
	o.t, o.s, o.list, o.keys, o.used, o.stale = t, s, o.list[:0], o.keys[:0], false, false
	for _, d := range donors {
		of := s.DonorOfRules(d.node, d.common)
		for _, lane := range phases[phase] {
			var cursor cluster.LaneCursor
			for cursor.First(*s.Cluster.Running(d.node).Lane(lane)); ; cursor.Next() {
				w, ok := cursor.Item()
				if !ok {
					break
				}
				s.Steps++
				if (all || s.UsesNeeded(w.Loads)) && s.VerdictByRules(&of, w).MayYield() {
					o.list = append(o.list, candidate{w, d, len(o.keys)})
					o.keys = slices.Grow(o.keys, len(o.by))[:len(o.keys)+len(o.by)]
				}
			}
		}
	}
	o.group()
	for _, g := range o.groups {
		for i := range g {
			o.computeKeys(&g[i], false)
		}
		heap.Init(g, func(a, b *candidate) bool { return o.compare(a, b, false) < 0 })
	}
	o.sort()
}

// group makes the groups. The key of the final share depends on what the candidate frees.
func (o *walk) group() {
	o.groups = o.groups[:0]
	byLoads := slices.ContainsFunc(o.by, func(b rules.Ordering) bool { return b.Key == rules.ByFinalShare })
	if byLoads {
		slices.SortStableFunc(o.list, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(a.donor.node, b.donor.node), compareLoads(a.Workload, b.Workload))
		})
	}
	for from, i := 0, 1; i <= len(o.list); i++ {
		switch {
		case i == len(o.list), o.shares && o.list[from].donor.node != o.list[i].donor.node,
			byLoads && (compareLoads(o.list[from].Workload, o.list[i].Workload) != 0 || o.list[i].Divides()):
			o.groups = append(o.groups, o.list[from:i:i])
			from = i
		}
	}
}

// compareLoads compares what two workloads free. One of which a part may yield alone comes last: it is alike no other.
func compareLoads(a, b *cluster.Workload) int {
	if x, y := a.Divides(), b.Divides(); x != y {
		return int(oneIf(x) - oneIf(y))
	}
	return slices.CompareFunc(a.Loads, b.Loads, func(x, y quotatree.Load) int {
		return cmp.Or(cmp.Compare(x.Column, y.Column), cmp.Compare(x.Amount, y.Amount))
	})
}

// computeKeys computes the keys of a candidate: those of shares, or the others.
func (o *walk) computeKeys(c *candidate, shares bool) {
	for k, key := range o.by {
		if key.Key.OfShares() == shares {
			o.keys[c.at+k] = o.key(c, key.Key)
		}
	}
}

// sort computes the keys of shares, and sorts the groups.
func (o *walk) sort() {
	for _, g := range o.groups {
		o.computeKeys(&g[0], true)
	}
	heap.Init(o.groups, o.earlier)
}

// next returns the next candidate.
func (o *walk) next() (c candidate, ok bool) {
	if o.used {
		o.dropFirst()
	}
	if o.stale {
		o.sort()
	}
	if o.used, o.stale = len(o.groups) > 0, false; !o.used {
		return c, false
	}
	return o.groups[0][0], true
}

// dropFirst drops the first candidate of the first group.
func (o *walk) dropFirst() {
	g := heap.Drop(o.groups[0], func(a, b *candidate) bool { return o.compare(a, b, false) < 0 })
	if o.groups[0] = g; len(g) == 0 {
		o.groups = heap.Drop(o.groups, o.earlier)
		return
	}
	o.computeKeys(&g[0], true)
	heap.Fix(o.groups, 0, o.earlier)
}

// earlier compares two groups by their first candidates.
func (o *walk) earlier(a, b *group) bool { return o.compare(&(*a)[0], &(*b)[0], true) < 0 }

// compare compares two candidates, with the keys of shares or without.
func (o *walk) compare(a, b *candidate, shares bool) int {
	return cmp.Or(o.compareKeys(a, b, shares), cluster.CompareIDs(a.Workload, b.Workload))
}

// change says that a victim was taken.
func (o *walk) change() { o.stale = o.shares }

// drop drops the references to the cluster.
func (o *walk) drop() {
	clear(o.list[:cap(o.list)])
	clear(o.groups[:cap(o.groups)])
	o.by, o.t, o.s, o.list, o.groups = nil, nil, nil, o.list[:0], o.groups[:0]
}
