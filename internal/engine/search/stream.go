package search

import (
	"math"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
)

// stream is the candidates of one lane of one donor, in order. In a surplus lane they are
// replicas of one surplus (set), of which some are left.
type stream struct {
	surplus    bool
	set        int   // of head.Surplus
	left       int64 // replicas of the set that are left
	cursor     cluster.LaneCursor
	head       *cluster.Workload
	lane       *cluster.LaneSet
	donor      Donor
	permission Permission
	tier       tier
	run        int64 // of expired equals: the reservation time of those at the cursor
}

// openStream opens a lane of a donor and appends it to the streams; ok is false if it has no
// candidate.
func (s *Search) openStream(of *cluster.Running, d *Donor, lane cluster.Lane, p Permission, t tier) (it item, ok bool) {
	set := of.Lane(lane)
	if set.Len() == 0 {
		return it, false
	}
	m := &s.merge
	n := len(m.streams)
	m.streams = Grown(m.streams)
	st := &m.streams[n]
	st.lane, st.donor, st.permission, st.tier = set, *d, p, t
	st.surplus = lane.Surplus()
	if !s.open(st) {
		m.streams = m.streams[:n]
		return it, false
	}
	return s.itemOf(st, n), true
}

// Grown returns a list with one more item, which keeps its earlier contents, so that a large
// item is not copied.
func Grown[E any](list []E) []E {
	if n := len(list); n < cap(list) {
		return list[:n+1]
	}
	var e E
	return append(list, e)
}

// open moves a new stream to its first candidate. It returns false if it has none.
func (s *Search) open(st *stream) bool {
	switch st.tier {
	case newerEquals:
		st.cursor.Seek(*st.lane, func(w *cluster.Workload) bool { return w.Priority < st.permission.Below })
	case expiredEquals:
		return s.openRun(st, math.MinInt64) && s.settle(st)
	default:
		st.cursor.First(*st.lane)
	}
	return s.settle(st)
}

// openRun moves a stream of expired equals to the longest running of those reserved after the
// given time. A lane has equals by falling reservation, so runs of one reservation time are
// taken from its end, each run from its front.
func (s *Search) openRun(st *stream, after int64) bool {
	equal := st.permission.Below
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

// settle moves a stream to its next candidate, from the cursor on: one that may yield and
// uses what needs preemption. It returns false at the end.
func (s *Search) settle(st *stream) bool {
	for {
		w, ok := st.cursor.Item()
		if ok {
			s.Steps++
		}
		mayYield := true
		switch {
		case st.tier == expiredEquals:
			if !ok || w.Priority != st.permission.Below || w.Reserved != st.run {
				if !s.openRun(st, st.run) {
					return false
				}
				w, _ = st.cursor.Item()
			}
		case !ok:
			return false
		case st.tier == newerEquals:
			if w.Priority != st.permission.Below {
				return false
			}
			mayYield = s.Newer(w) && !s.expired(w)
		default:
			if !st.permission.Permits(w) {
				if t := s.Request.Trace; t != nil {
					s.traceRefusedIn(t, st)
				}
				return false
			}
		}
		if t := s.Request.Trace; t != nil {
			s.traceVerdict(t, st, w, mayYield)
		}
		st.head = w
		switch {
		case !mayYield:
			st.cursor.Next()
		case st.surplus:
			if st.set = -1; s.nextSet(st) && !s.guarded(w) && !s.refuses(st.donor.Queue, w) {
				return true
			}
			st.cursor.Next()
		case !s.UsesNeeded(w.Loads):
			st.cursor.NextIn(s.UsesNeeded)
		case !s.protected(st.donor.guarantee, w):
			if !s.guarded(w) && !s.refuses(st.donor.Queue, w) {
				return true
			}
			st.cursor.Next()
		case !st.donor.byReservation(w, s.Now):
			st.cursor.Next()
		case st.tier == expiredEquals:
			return false // those that follow were reserved later
		default:
			s.passProtected(st, w)
		}
	}
}

// passProtected moves past a protected workload and those of its priority that were reserved
// late enough to be protected, too.
func (s *Search) passProtected(st *stream, w *cluster.Workload) {
	priority, minimum, now := w.Priority, st.donor.Minimum, s.Now
	st.cursor.Seek(*st.lane, func(w *cluster.Workload) bool {
		return w.Priority < priority || w.Priority == priority && (w.Reserved > math.MaxInt64-minimum || now <= w.Reserved+minimum)
	})
}

// nextSet moves to the next surplus of the workload at the cursor that uses what needs
// preemption. Surplus may always yield, protected or not.
func (s *Search) nextSet(st *stream) bool {
	for st.set++; st.set < len(st.head.Surplus); st.set++ {
		surplus := &st.head.Surplus[st.set]
		for slot, needs := range s.Needs {
			if needs && surplus.Uses(s.Request.Columns[slot]) {
				st.left = surplus.Count
				return true
			}
		}
	}
	return false
}

// advance moves past the candidate at the head. It returns false at the end.
func (s *Search) advance(st *stream) bool {
	if st.surplus {
		s.Steps++
		if st.left--; st.left > 0 || s.nextSet(st) {
			return true
		}
	}
	st.cursor.Next()
	return s.settle(st)
}

// UsesNeeded reports whether loads name a column that needs preemption, also with amount
// zero.
func (s *Search) UsesNeeded(loads []quotatree.Load) bool {
	for slot, needs := range s.Needs {
		if !needs {
			continue
		}
		for i := range loads {
			if loads[i].Column == s.Request.Columns[slot] {
				return true
			}
		}
	}
	return false
}
