package rules

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
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
// candidate is the first by the shares as they are then.
type walk struct {
	by     []rules.Ordering
	shares bool // some key is of shares
	t      *Taker
	s      *search.Search
	list   []candidate // a heap
	keys   []value     // as many for each candidate as there are in by
}

// candidate is a workload that yields if rules accept it.
type candidate struct {
	*cluster.Workload
	donor donor
	at    int // its keys: keys[at:]
}

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
	o.t, o.s, o.list, o.keys = t, s, o.list[:0], o.keys[:0]
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
	o.sort(false)
}

// sort computes the keys, or those of shares alone, and sorts the candidates by them.
func (o *walk) sort(again bool) {
	for i := range o.list {
		c := &o.list[i]
		for k, key := range o.by {
			if !again || key.Key.OfShares() {
				o.keys[c.at+k] = o.key(c, key.Key)
			}
		}
	}
	heap.Init(o.list, o.earlier)
}

// next returns the next candidate.
func (o *walk) next() (c candidate, ok bool) {
	if len(o.list) == 0 {
		return c, false
	}
	c = o.list[0]
	o.list = heap.Drop(o.list, o.earlier)
	return c, true
}

// earlier compares two candidates.
func (o *walk) earlier(a, b *candidate) bool {
	return cmp.Or(compareKeys(o.by, o.keys[a.at:], o.keys[b.at:]), cluster.CompareIDs(a.Workload, b.Workload)) < 0
}

// change says that a victim was taken.
func (o *walk) change() {
	if o.shares {
		o.sort(true)
	}
}

// drop drops the references to the cluster.
func (o *walk) drop() {
	clear(o.list[:cap(o.list)])
	o.by, o.t, o.s, o.list = nil, nil, nil, o.list[:0]
}
