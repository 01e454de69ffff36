package search

import (
	"math"

	"github.com/cedesched/cede/internal/cluster"
	"github.com/cedesched/cede/quota"
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

// stream is the candidates of one lane of one donor, in order. In a surplus lane they
// are replicas: set and left say which.
type stream struct {
	surplus    bool
	set        int   // of head.Surplus
	left       int64 // replicas of the set
	cursor     cluster.LaneCursor
	head       *cluster.Workload
	lane       *cluster.LaneSet
	donor      donor
	permission permission
	tier       tier
	run        int64 // of expired equals: the reservation time of those at the cursor
}

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
		s.heap = append(s.heap, it)
		s.siftUp(len(s.heap) - 1)
	}
}

// openStream opens a lane of a donor; ok is false when it has no candidate.
func (s *Searcher) openStream(of *cluster.Running, d donor, lane cluster.Lane, p permission, t tier) (it item, ok bool) {
	set := of.Lane(lane)
	if set.Len() == 0 {
		return it, false
	}
	n := len(s.streams)
	s.streams = grown(s.streams)
	st := &s.streams[n]
	st.lane, st.donor, st.permission, st.tier = set, d, p, t
	st.surplus = lane >= cluster.SurplusReserved
	if !s.open(st) {
		s.streams = s.streams[:n]
		return it, false
	}
	return s.itemOf(st.head, st.surplus, int32(n)), true
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
	s.heap = append(s.heap, s.itemOf(head.Workload, lane >= cluster.SurplusReserved, int32(^n)))
	s.siftUp(len(s.heap) - 1)
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
		s.siftDown(0)
	} else {
		s.dropTop()
	}
	switch child := int(head.Node); {
	case s.withinNominal(child):
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

// grown makes room for one more in place: cursors are too large to copy for each queue.
func grown[E any](list []E) []E {
	if n := len(list); n < cap(list) {
		return list[:n+1]
	}
	var e E
	return append(list, e)
}

// open moves a new stream to its first candidate. It returns false when it has none.
func (s *Searcher) open(st *stream) bool {
	switch st.tier {
	case newerEquals:
		st.cursor.Seek(*st.lane, func(w *cluster.Workload) bool { return w.Priority < st.permission.below })
	case expiredEquals:
		return s.openRun(st, math.MinInt64) && s.settle(st)
	default:
		st.cursor.First(*st.lane)
	}
	return s.settle(st)
}

// openRun moves a stream of expired equals to the longest running of those that were
// reserved after the given time. A lane has equals by falling reservation, so the runs
// of one reservation time are taken from its end, each from its front.
func (s *Searcher) openRun(st *stream, after int64) bool {
	equal := st.permission.below
	last, ok := st.lane.Last(func(w *cluster.Workload) bool {
		return w.Priority < equal || w.Priority == equal && w.Reserved > after
	})
	if !ok || last.Priority != equal || !s.expired(last) {
		return false
	}
	st.run = last.Reserved
	st.cursor.Seek(*st.lane, func(w *cluster.Workload) bool {
		return w.Priority < equal || w.Priority == equal && w.Reserved > st.run
	})
	return true
}

// settle moves a stream to its next candidate, from where the cursor is: one that may
// yield and uses what needs preemption. It returns false at the end.
func (s *Searcher) settle(st *stream) bool {
	for {
		w, ok := st.cursor.Item()
		if ok {
			s.steps++
		}
		mayYield := true
		switch {
		case st.tier == expiredEquals:
			if !ok || w.Priority != st.permission.below || w.Reserved != st.run {
				if !s.openRun(st, st.run) {
					return false
				}
				w, _ = st.cursor.Item()
			}
		case !ok:
			return false
		case st.tier == newerEquals:
			if w.Priority != st.permission.below {
				return false
			}
			mayYield = s.newer(w) && !s.expired(w)
		default:
			if !st.permission.permits(w) {
				return false
			}
		}
		st.head = w
		switch {
		case !mayYield || s.guarded(w):
			st.cursor.Next()
		case st.surplus:
			if st.set = -1; s.nextSet(st) {
				return true
			}
			st.cursor.Next()
		case !s.usesNeeded(w.Loads):
			st.cursor.NextIn(s.usesNeeded)
		case !s.protected(st.donor.guarantee, w):
			return true
		case st.tier == expiredEquals:
			return false // those that follow were reserved later
		default:
			s.passProtected(st, w)
		}
	}
}

// passProtected moves past a protected workload and those of its priority that were
// reserved late enough to be protected too.
func (s *Searcher) passProtected(st *stream, w *cluster.Workload) {
	priority, minimum, now := w.Priority, st.donor.minimum, s.request.Now
	st.cursor.Seek(*st.lane, func(w *cluster.Workload) bool {
		return w.Priority < priority || w.Priority == priority && (w.Reserved > math.MaxInt64-minimum || now <= w.Reserved+minimum)
	})
}

// nextSet moves to the next surplus of the workload at the cursor that uses what needs
// preemption. The surplus may always go, protected or not.
func (s *Searcher) nextSet(st *stream) bool {
	for st.set++; st.set < len(st.head.Surplus); st.set++ {
		surplus := &st.head.Surplus[st.set]
		for slot, needs := range s.request.Needs {
			if needs && surplus.Uses(s.request.Columns[slot]) {
				st.left = surplus.Count
				return true
			}
		}
	}
	return false
}

// advance moves past the candidate at the head. It returns false at the end.
func (s *Searcher) advance(st *stream) bool {
	if st.surplus {
		s.steps++
		if st.left--; st.left > 0 || s.nextSet(st) {
			return true
		}
	}
	st.cursor.Next()
	return s.settle(st)
}

// usesNeeded reports whether loads name a column that needs preemption, be it with
// zero.
func (s *Searcher) usesNeeded(loads []quota.Load) bool {
	for slot, needs := range s.request.Needs {
		if !needs {
			continue
		}
		for i := range loads {
			if loads[i].Column == s.request.Columns[slot] {
				return true
			}
		}
	}
	return false
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
			s.dropTop()
		} else {
			*top = s.itemOf(st.head, st.surplus, top.at)
			s.siftDown(0)
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

// dropTop takes the first item out of the heap.
func (s *Searcher) dropTop() {
	last := len(s.heap) - 1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	s.siftDown(0)
}

func (s *Searcher) siftUp(i int) {
	for ; i > 0 && before(&s.heap[i], &s.heap[(i-1)/2]); i = (i - 1) / 2 {
		s.heap[i], s.heap[(i-1)/2] = s.heap[(i-1)/2], s.heap[i]
	}
}

func (s *Searcher) siftDown(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.heap); child++ {
			if before(&s.heap[child], &s.heap[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		s.heap[i], s.heap[first] = s.heap[first], s.heap[i]
		i = first
	}
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
