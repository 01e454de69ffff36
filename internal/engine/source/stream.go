package source

import (
	"math"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
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
	donor      right.Donor
	permission right.Permission
	tier       tier
	run        int64 // of expired equals: the reservation time of those at the cursor
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
func (st *stream) open(c *right.Case) bool {
	switch st.tier {
	case newerEquals:
		st.cursor.Seek(*st.lane, func(w *cluster.Workload) bool { return w.Priority < st.permission.Below })
	case expiredEquals:
		return st.openRun(c, math.MinInt64) && st.settle(c, nil)
	default:
		st.cursor.First(*st.lane)
	}
	return st.settle(c, nil)
}

// openRun moves a stream of expired equals to the longest running of those reserved after the
// given time. A lane has equals by falling reservation, so runs of one reservation time are
// taken from its end, each run from its front.
func (st *stream) openRun(c *right.Case, after int64) bool {
	equal := st.permission.Below
	last, ok := st.lane.Last(func(w *cluster.Workload) bool {
		return w.Priority < equal || w.Priority == equal && w.Reserved > after
	})
	if !ok || last.Priority != equal || !c.Expired(last) {
		return false
	}
	st.run = last.Reserved
	st.cursor.Seek(*st.lane, func(w *cluster.Workload) bool {
		return w.Priority < equal || w.Priority == equal && w.Reserved > st.run
	})
	return true
}

// item returns the workload at the cursor if it is in the range of the tier.
func (st *stream) item(c *right.Case) (w *cluster.Workload, ok bool) {
	w, ok = st.cursor.Item()
	if ok {
		c.Steps++
	}
	switch st.tier {
	case expiredEquals:
		if !ok || w.Priority != st.permission.Below || w.Reserved != st.run {
			if !st.openRun(c, st.run) {
				return nil, false
			}
			w, ok = st.cursor.Item()
		}
	case newerEquals:
		ok = ok && w.Priority == st.permission.Below
	default:
		if ok && !st.permission.Permits(w) {
			if t := c.Request.Trace; t != nil {
				st.traceRefused(t, c)
			}
			return nil, false
		}
	}
	return w, ok
}

// settle moves a stream to its next candidate, from the cursor on: one that may yield and
// uses what needs preemption, and that refused, if it is not nil, does not hold for. It returns false at the end.
func (st *stream) settle(c *right.Case, refused func(*cluster.Workload) bool) bool {
	for {
		w, ok := st.item(c)
		if !ok {
			return false
		}
		st.head = w
		switch {
		case st.tier == newerEquals && (!c.Newer(w) || c.Expired(w)):
			if t := c.Request.Trace; t != nil && !c.Expired(w) { // an expired one is of another tier
				st.trace(t, c, w, c.NotNewer(w))
			}
			st.cursor.Next()
		case st.surplus:
			if st.set = -1; st.nextSet(c) && c.VerdictOfSurplus(&st.donor, w).MayYield() {
				return true
			}
			st.cursor.Next()
		case !c.UsesNeeded(w.Loads):
			if t := c.Request.Trace; t != nil {
				st.trace(t, c, w, right.Verdict{Rule: trace.NotUsed})
			}
			st.cursor.NextIn(c.UsesNeeded)
		case refused != nil && refused(w):
			st.cursor.Next()
		default:
			v := c.Verdict(&st.donor, w)
			if v.MayYield() {
				return true
			}
			if t := c.Request.Trace; t != nil {
				st.trace(t, c, w, v)
			}
			if !st.pass(c, w, v) {
				return false
			}
		}
	}
}

// pass moves past a workload that a rule keeps, and past the others that it keeps for the same
// reason. It returns false if these are all that follow.
func (st *stream) pass(c *right.Case, w *cluster.Workload, v right.Verdict) bool {
	switch {
	case v.Rule != trace.MinRuntime || !st.donor.ByReservation(w, c.Now):
		st.cursor.Next()
	case st.tier == expiredEquals:
		return false // those that follow were reserved later
	default:
		st.donor.PassProtected(&st.cursor, st.lane, w, c.Now)
	}
	return true
}

// nextSet moves to the next surplus of the workload at the cursor that uses what needs
// preemption. Surplus may always yield, protected or not.
func (st *stream) nextSet(c *right.Case) bool {
	for st.set++; st.set < len(st.head.Surplus); st.set++ {
		surplus := &st.head.Surplus[st.set]
		for slot, needs := range c.Needs {
			if needs && surplus.Uses(c.Request.Columns[slot]) {
				st.left = surplus.Count
				return true
			}
		}
	}
	return false
}

// advance moves past the candidate at the head, and past more replicas that are alike. It returns false at the end.
func (st *stream) advance(c *right.Case, more int64) bool {
	if st.surplus {
		c.Steps++
		if st.left -= 1 + more; st.left > 0 || st.nextSet(c) {
			return true
		}
	}
	st.cursor.Next()
	return st.settle(c, nil)
}

// candidate returns the candidate at the head.
func (st *stream) candidate(c *right.Case) right.Victim {
	w, d := st.head, &st.donor
	v := right.Victim{
		Workload: w, Set: -1, Count: 1, Cohort: d.LCA, Queue: d.Queue,
		WhileBorrowing: d.Class == right.Priority && c.WhileBorrowing(w),
		Expired:        d.Class == right.Own && w.Priority == c.Request.Priority && !c.Newer(w),
	}
	if st.surplus {
		v.Set = st.set
	}
	return v
}

// alike returns how many replicas from the head on are alike a victim.
func (st *stream) alike(v *right.Victim) int64 {
	if st.surplus && st.head == v.Workload && st.set == v.Set {
		return st.left
	}
	return 0
}

// position returns the position of the candidate at the head.
func (st *stream) position(c *right.Case) Position { return PositionOf(c, st.head, st.surplus) }

// traceRefused notes the workloads from the cursor of a stream on, which the policy keeps. Of
// the own queue, equals come in tiers of their own.
func (st *stream) traceRefused(t *trace.Recorder, c *right.Case) {
	if st.surplus {
		return // they are in another lane too
	}
	for cursor := st.cursor; ; cursor.Next() {
		w, ok := cursor.Item()
		if !ok {
			return
		}
		rule := trace.ReclaimWithinCohort
		switch {
		case !c.UsesNeeded(w.Loads), st.donor.Class == right.Own && c.Equal(w):
			continue
		case st.donor.Class == right.Own:
			rule = trace.WithinClusterQueue
		case c.Permission(st.donor.Class, false).Permits(w):
			rule = trace.BorrowWithinCohort
		}
		t.Skip(trace.Step{Verdict: trace.Verdict{Rule: rule}, Node: st.donor.Queue, Workload: w.Facts.ID, Count: 1})
	}
}

// trace records the verdict on a workload in the range of priorities that the policy permits, and
// counts the others that are skipped with it.
func (st *stream) trace(t *trace.Recorder, c *right.Case, w *cluster.Workload, v right.Verdict) {
	if st.surplus {
		return
	}
	step := trace.Step{Verdict: v, Node: st.donor.Queue, Workload: w.Facts.ID, Count: 1}
	switch {
	case v.Rule == trace.NotUsed:
		step.Count = st.passed(func(w *cluster.Workload) bool { return !c.UsesNeeded(w.Loads) })
	case v.Rule == trace.MinRuntime && st.tier != expiredEquals && st.donor.ByReservation(w, c.Now):
		others := int64(0) // that use nothing of what is needed
		step.Count = st.passed(func(o *cluster.Workload) bool {
			kept := o.Priority == w.Priority && st.donor.ByReservation(o, c.Now)
			if kept && !c.UsesNeeded(o.Loads) {
				others++
			}
			return kept
		}) - others
	}
	t.Skip(step)
}

// passed counts the workloads from the cursor on that pass the test, one after the other.
func (st *stream) passed(test func(*cluster.Workload) bool) (n int64) {
	for cursor := st.cursor; ; cursor.Next() {
		w, ok := cursor.Item()
		if !ok || !test(w) {
			return n
		}
		n++
	}
}
