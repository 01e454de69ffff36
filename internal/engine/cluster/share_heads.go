package cluster

import (
	"cmp"
	"math"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/quota"
)

// ShareHead is the first queue by its share: Node, or of those under the cohort Node that can be reached
// (see [Head]). Of queues with equal shares the one whose first workload is the first candidate comes first.
type ShareHead struct {
	Workload *Workload // the first one of the queue, of two lanes
	// Share orders as the shares of queues do: it is the [ShareKey], or in a descending order its
	// complement.
	Share uint64
	Least int64 // the lowest priority of those under Node
	Node  int32
}

// ShareHeads are the share heads of a cohort's children, in order; the sum is the lowest priority of all.
// A decision that orders candidates by the shares of their queues finds its first one at the front.
type ShareHeads = ordered.Set[ShareHead, LeastPriority]

// ShareCursor walks [ShareHeads].
type ShareCursor = ordered.Cursor[ShareHead, LeastPriority]

// LeastPriority is the lowest priority of some workloads. The zero value is that of nobody.
type LeastPriority struct {
	any   bool
	least int64
}

func (p *LeastPriority) add(o LeastPriority) {
	if o.any && (!p.any || o.least < p.least) {
		*p = o
	}
}

// UpTo reports whether somebody has at most a priority.
func (p LeastPriority) UpTo(most int64) bool { return p.any && p.least <= most }

var shareOrder = &ordered.Order[ShareHead, LeastPriority]{
	Compare: func(a, b ShareHead) int {
		return cmp.Or(cmp.Compare(a.Share, b.Share), compareAcrossLanes(a.Workload, b.Workload))
	},
	AddItem: func(sum *LeastPriority, h ShareHead) { sum.add(LeastPriority{true, h.Least}) },
	AddSum:  func(sum *LeastPriority, o LeastPriority) { sum.add(o) },
}

// compareAcrossLanes is compareInLane, but a reservation that is not known is the latest.
func compareAcrossLanes(a, b *Workload) int {
	switch {
	case a.Priority != b.Priority:
		return cmp.Compare(a.Priority, b.Priority)
	case a.Reserved != b.Reserved:
		return cmp.Compare(instant.Rank(b.Reserved), instant.Rank(a.Reserved))
	}
	return CompareIDs(a, b)
}

// shareHeads holds the share heads of a cohort: by order, ascending and descending, and by the pair of
// lanes, those of workloads that are not being evicted and of those that are.
type shareHeads [2][2]ShareHeads

// pairs are the pairs of lanes in [shareHeads].
var pairs = [2][2]Lane{{Active, ActiveUnreserved}, {Evicted, EvictedUnreserved}}

// ShareHeads returns the share heads of a cohort in an order that is kept, of workloads that are being
// evicted or of others.
func (r *Reach) ShareHeads(descending, evicted bool) ShareHeads {
	return r.shares[oneIf(descending)][oneIf(evicted)]
}

func oneIf(is bool) int {
	if is {
		return 1
	}
	return 0
}

// ShareKey returns a number that orders shares as [quota.Share.Compare] does.
func ShareKey(of quota.Share) uint64 {
	if of.Weight == 0 && of.Ratio > 0 {
		return 1<<63 | math.Float64bits(of.Ratio)
	}
	return math.Float64bits(of.Weighted())
}

// shareHead returns the share head of a queue if r is nil, else of the cohort with the reach r; one without
// workload: none.
func (c *Cluster) shareHead(node int, r *Reach, order, pair int) (h ShareHead) {
	if r != nil {
		set := &r.shares[order][pair]
		h, _ = set.First()
		if h.Workload == nil {
			return h
		}
		var sum LeastPriority
		set.Total(&sum)
		h.Node, h.Least = int32(node), sum.least
		return h
	}
	h.Node = int32(node)
	for _, lane := range pairs[pair] {
		if w, ok := c.Running(node).Lane(lane).First(); ok && (h.Workload == nil || compareAcrossLanes(w, h.Workload) < 0) {
			h.Workload = w
		}
	}
	if h.Workload == nil {
		return ShareHead{}
	}
	h.Share, h.Least = ShareKey(c.Usage.Share(node).Share), h.Workload.Priority
	if order == 1 {
		h.Share = ^h.Share
	}
	return h
}

// allShareHeads returns the share heads of a cohort, nil if no order is kept; reach has what is under it.
func (c *Cluster) allShareHeads(extent Extent, cohort int, reach []*Reach) *shareHeads {
	if !c.indexes.Ascending && !c.indexes.Descending {
		return nil
	}
	all := new(shareHeads)
	for order := range c.indexes.orders {
		for pair := range pairs {
			var list []ShareHead
			add := func(children []int32) {
				for _, node := range children {
					if !c.CanReachOf(extent, int(node)) {
						continue
					}
					var r *Reach
					if !c.IsQueue(int(node)) {
						r = reach[node]
					}
					if h := c.shareHead(int(node), r, order, pair); h.Workload != nil {
						list = append(list, h)
					}
				}
			}
			add(c.ChildQueues[cohort])
			add(c.ChildCohorts[cohort])
			heap.Sort(list, func(a, b *ShareHead) bool { return shareOrder.Compare(*a, *b) < 0 })
			all[order][pair] = ordered.Of(shareOrder, list)
		}
	}
	return all
}

// shareHeadsAfter returns the share heads of a cohort after those of a child changed, or the same if they did
// not. before and above are the cluster and the reach of the cohort as they were; was and is are the reach
// of the child then and now, nil for a queue; did and does: it could be reached, and can.
func (c *Cluster) shareHeadsAfter(before *Cluster, above *Reach, child int, was, is *Reach, did, does bool) *shareHeads {
	all := above.shares
	for order := range c.indexes.orders {
		for pair := range pairs {
			var old, now ShareHead
			if did {
				old = before.shareHead(child, was, order, pair)
			}
			if does {
				now = c.shareHead(child, is, order, pair)
			}
			if old == now {
				continue
			}
			if all == above.shares {
				copied := *all
				all = &copied
			}
			switch set := &all[order][pair]; {
			case old.Workload == nil:
				*set = set.Insert(now)
			case now.Workload == nil:
				*set, _ = set.Delete(old)
			default:
				*set = set.Replace(old, now)
			}
		}
	}
	return all
}
