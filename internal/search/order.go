package search

import (
	"math"

	"github.com/cedesched/cede/internal/cluster"
	"github.com/cedesched/cede/internal/ordered"
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
	cursor     ordered.Cursor[*cluster.Workload]
	head       *cluster.Workload
	reserved   int64 // of head
	lane       *ordered.Set[*cluster.Workload]
	donor      donor
	permission permission
	tier       tier
	run        int64 // of expired equals: the reservation time of those at the cursor
}

// queueUp opens the streams of a phase and orders them by their heads.
func (s *Searcher) queueUp(n int, borrowing bool) {
	s.streams, s.heap = s.streams[:0], s.heap[:0]
	ph := &phases[n]
	p := s.permission(ph.class, borrowing)
	if p == nobody || ph.tier != everybody && !s.equalsMayYield() || ph.tier == expiredEquals && s.request.MinAdmit == 0 {
		return
	}
	for _, d := range s.donors {
		if d.class != ph.class {
			continue
		}
		running := s.cluster.Running(d.queue)
		for _, lane := range ph.lanes {
			if running.Lane(lane).Len() == 0 {
				continue
			}
			st := s.push()
			st.lane, st.donor, st.permission, st.tier = running.Lane(lane), d, p, ph.tier
			st.surplus = lane >= cluster.SurplusReserved
			if !s.open(st) {
				s.streams = s.streams[:len(s.streams)-1]
			}
		}
	}
	for i := range s.streams {
		s.heap = append(s.heap, int32(i))
	}
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.siftDown(i)
	}
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

// push appends a stream in place: cursors are too large to copy for each queue.
func (s *Searcher) push() *stream {
	if n := len(s.streams); n < cap(s.streams) {
		s.streams = s.streams[:n+1]
	} else {
		s.streams = append(s.streams, stream{})
	}
	return &s.streams[len(s.streams)-1]
}

// settle moves a stream to its next candidate, from where the cursor is: one that may
// yield and uses what needs preemption. It returns false at the end.
func (s *Searcher) settle(st *stream) bool {
	for ; ; st.cursor.Next() {
		w, ok := st.cursor.Item()
		if ok {
			s.steps++
		}
		mayYield := false
		switch {
		case st.tier == expiredEquals:
			if !ok || w.Priority != st.permission.below || w.Reserved != st.run {
				if !s.openRun(st, st.run) {
					return false
				}
				w, _ = st.cursor.Item()
			}
			mayYield = true
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
			mayYield = true
		}
		if !mayYield || s.guarded(w) {
			continue
		}
		st.head, st.reserved = w, s.reservedAt(w)
		if st.surplus {
			st.set = -1
			if s.nextSet(st) {
				return true
			}
		} else if s.usesNeeded(w) && !s.protected(st.donor.guarantee, w) {
			return true
		}
	}
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

// usesNeeded reports whether the workload's assignment names a column that needs
// preemption, be it with zero.
func (s *Searcher) usesNeeded(w *cluster.Workload) bool {
	for slot, needs := range s.request.Needs {
		if needs && w.Uses(s.request.Columns[slot]) {
			return true
		}
	}
	return false
}

// next returns the first candidate of the phase; ok is false when there is none
// left. A donor that has nothing left to reclaim is dropped.
func (s *Searcher) next() (v Victim, ok bool) {
	for len(s.heap) > 0 {
		st := &s.streams[s.heap[0]]
		v = s.victim(st)
		gone := s.nothingToReclaim(st.donor)
		if gone || !s.advance(st) {
			last := len(s.heap) - 1
			s.heap[0] = s.heap[last]
			s.heap = s.heap[:last]
		}
		s.siftDown(0)
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

func (s *Searcher) siftDown(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.heap); child++ {
			if before(&s.streams[s.heap[child]], &s.streams[s.heap[first]]) {
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
func before(a, b *stream) bool {
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
