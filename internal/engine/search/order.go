package search

import (
	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
)

// Candidates come in phases: those evicted already, then the others; in each first the
// hierarchical class, then the priority class, then the preemptor's own queue. Inside a
// phase (KEP-83, Preemption, step 3; ties as built in Kueue): lower effective priority,
// later reservation (a missing one counts as now), lower UID, lower ID. Of equal
// priority, the surplus replicas of elastic workloads come one by one before whole
// workloads; those of one workload from its last pod set to its first.
//
// The own queue comes in tiers (KEP-8522, Preemption order): all of lower priority; of
// equals first those whose time is over, longest running first; then newer ones, most
// recently reserved first.
var phases = [...]phase{
	{evictedLanes, hierarchical, everybody},
	{evictedLanes, priority, everybody},
	{evictedLanes, own, everybody},
	{evictedLanes, own, expiredEquals},
	{evictedLanes, own, newerEquals},
	{activeLanes, hierarchical, everybody},
	{activeLanes, priority, everybody},
	{activeLanes, own, everybody},
	{activeLanes, own, expiredEquals},
	{activeLanes, own, newerEquals},
}

type phase struct {
	lanes []cluster.Lane
	class class
	tier  tier
}

var (
	evictedLanes = []cluster.Lane{cluster.Evicted, cluster.EvictedUnreserved}
	activeLanes  = []cluster.Lane{cluster.SurplusReserved, cluster.SurplusUnreserved, cluster.Active, cluster.ActiveUnreserved}
)

// tier is a part of a donor's workloads that comes in an order of its own.
type tier uint8

const (
	// everybody that the policy's range of priorities permits.
	everybody tier = iota
	expiredEquals
	newerEquals
)

// hasTier reports whether the own queue's policy knows the tier.
func (s *Searcher) hasTier(t tier) bool {
	return t == everybody || s.equalsMayYield() && (t == newerEquals || s.request.MinAdmit > 0)
}

// source is a cohort whose queues come later: what is known of them is the first
// candidate of each child (see cluster.Head), and a child is opened when its turn comes.
type source struct {
	cursor     cluster.HeadCursor
	lane       cluster.Lane
	level      level
	permission permission
}

// item stands in the heap for a stream, or for a source (at < 0). A source's head is
// no later than any candidate under it.
type item struct {
	head     *cluster.Workload
	reserved int64
	surplus  bool
	at       int32
}

// queueUp opens the streams and the sources of a phase and orders them by their heads.
func (s *Searcher) queueUp(n int, borrowing bool) {
	s.streams, s.sources, s.heap, s.bySize = s.streams[:0], s.sources[:0], s.heap[:0], s.bySize[:0]
	ph := &phases[n]
	p := s.permission(ph.class, borrowing)
	if p == nobody || !s.hasTier(ph.tier) {
		return
	}
	if ph.class == own {
		d, _ := s.ownDonor() // the policy permits somebody
		for _, lane := range ph.lanes {
			s.queueStream(s.running, d, lane, p, ph.tier)
		}
		return
	}
	for _, l := range s.levels {
		if l.class != ph.class {
			continue
		}
		for _, lane := range ph.lanes {
			s.openSource(l.reach, l, lane, p)
		}
	}
	if s.largestFirst {
		s.sortPhase()
	}
}

// queueStream opens a lane of a donor and puts it into the heap.
func (s *Searcher) queueStream(of *cluster.Running, d donor, lane cluster.Lane, p permission, t tier) {
	if it, ok := s.openStream(of, d, lane, p, t); ok {
		s.heap = heap.Push(s.heap, it, before)
	}
}

// openSource opens a lane of a cohort's children, if it has a head.
func (s *Searcher) openSource(reach *cluster.Reach, l level, lane cluster.Lane, p permission) {
	if !reach.Has(lane) {
		return
	}
	n := len(s.sources)
	s.sources = grown(s.sources)
	src := &s.sources[n]
	src.lane, src.level, src.permission = lane, l, p
	cluster.SeekLane(&src.cursor, reach.Heads, lane)
	head, ok := src.head()
	if !ok {
		s.sources = s.sources[:n]
		return
	}
	s.heap = heap.Push(s.heap, s.itemOf(head.Workload, lane >= cluster.SurplusReserved, int32(^n)), before)
}

// head is that of the next child that may be a donor.
func (src *source) head() (head cluster.Head, ok bool) {
	for ; ; src.cursor.Next() {
		head, ok = src.cursor.Item()
		if !ok || head.Lane != src.lane || !src.permission.permits(head.Workload) {
			return head, false
		}
		if int(head.Node) != src.level.except {
			return head, true
		}
	}
}

// expand opens the next child of the source at the top of the heap, unless the child
// borrows nothing of what needs preemption.
func (s *Searcher) expand() {
	src := &s.sources[^s.heap[0].at]
	l, lane, p := src.level, src.lane, src.permission
	head, _ := src.head()
	src.cursor.Next()
	if next, ok := src.head(); ok {
		s.heap[0] = s.itemOf(next.Workload, s.heap[0].surplus, s.heap[0].at)
		heap.Fix(s.heap, 0, before)
	} else {
		s.heap = heap.Drop(s.heap, before)
	}
	switch child := int(head.Node); {
	case s.view.WithinNominal(child, s.request.Needs):
	case s.cluster.IsQueue(child):
		d := donor{child, l.cohort, l.class, s.guaranteeOf(child, l.cohort)}
		s.queueStream(s.cluster.Running(child), d, lane, p, everybody)
	default:
		s.openSource(s.cluster.Reach(child), l, lane, p)
	}
}

// settleHeap opens children until a stream is at the top. It returns false at the end.
func (s *Searcher) settleHeap() bool {
	for len(s.heap) > 0 && s.heap[0].at < 0 {
		s.expand()
	}
	return len(s.heap) > 0
}

// next returns the first candidate of the phase; ok is false when there is none
// left. A donor that has nothing left to reclaim is dropped.
func (s *Searcher) next() (v Victim, ok bool) {
	if len(s.bySize) > 0 {
		return s.nextBySize()
	}
	for s.settleHeap() {
		top := &s.heap[0]
		st := &s.streams[top.at]
		v = s.victim(st)
		gone := s.nothingToReclaim(st.donor)
		if gone || !s.advance(st) {
			s.heap = heap.Drop(s.heap, before)
		} else {
			*top = s.itemOf(st.head, st.surplus, top.at)
			heap.Fix(s.heap, 0, before)
		}
		if !gone {
			return v, true
		}
	}
	return Victim{}, false
}

// victim is the candidate at the head of a stream, as a victim.
func (s *Searcher) victim(st *stream) Victim {
	w, d := st.head, st.donor
	v := Victim{
		Workload: w, Set: -1, Count: 1, Cohort: d.lca, queue: d.queue,
		WhileBorrowing: d.class == priority && s.whileBorrowing(w),
		Expired:        d.class == own && w.Priority == s.request.Priority && !s.newer(w),
	}
	if st.surplus {
		v.Set = st.set
	}
	return v
}

func (s *Searcher) itemOf(head *cluster.Workload, surplus bool, at int32) item {
	return item{head, s.reservedAt(head), surplus, at}
}

// before is the order inside a phase.
func before(a, b *item) bool {
	switch {
	case a.head.Priority != b.head.Priority:
		return a.head.Priority < b.head.Priority
	case a.surplus != b.surplus:
		return a.surplus
	case a.reserved != b.reserved:
		return a.reserved > b.reserved
	}
	return cluster.CompareIDs(a.head, b.head) < 0
}

// firstWhole returns the first of those that of returns for the lanes of whole workloads:
// evicted already, then as in a phase.
func (s *Searcher) firstWhole(of func(cluster.Lane) *cluster.Workload) *cluster.Workload {
	for _, lanes := range [...][2]cluster.Lane{{cluster.Evicted, cluster.EvictedUnreserved}, {cluster.Active, cluster.ActiveUnreserved}} {
		var first item
		for _, lane := range lanes {
			w := of(lane)
			if w == nil {
				continue
			}
			if it := s.itemOf(w, false, 0); first.head == nil || before(&it, &first) {
				first = it
			}
		}
		if first.head != nil {
			return first.head
		}
	}
	return nil
}
