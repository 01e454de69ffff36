package source

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
)

// What a recorder writes down of the candidates. It is called only when a decision is traced.

// TraceClass has the classes as traces name them.
var TraceClass = [...]trace.Class{right.Hierarchical: trace.Hierarchical, right.Priority: trace.Priority, right.Own: trace.Own}

var traceTier = [...]trace.Tier{everyWorkload: trace.AllWorkloads, expiredEquals: trace.Expired, newerEquals: trace.Newer}

// tracePhase notes that a phase begins; if the policy permits no workload of it, which it keeps.
func tracePhase(t *trace.Recorder, c *right.Case, ph *phase, p right.Permission) {
	evicted := ph.lanes[0] == cluster.Evicted
	t.Add(trace.Step{Kind: trace.PhaseBegins, Class: TraceClass[ph.class], Tier: traceTier[ph.tier], Evicted: evicted})
	if p != right.None || evicted || ph.tier != everyWorkload {
		return
	}
	if ph.class == right.Own {
		running := c.Cluster.Running(c.Request.Queue)
		w := FirstWhole(c, func(lane cluster.Lane) *cluster.Workload { w, _ := running.Lane(lane).First(); return w })
		if w != nil {
			t.Skip(trace.Step{Verdict: trace.Verdict{Rule: trace.WithinClusterQueue}, Node: c.Request.Queue, Workload: w.Facts.ID, Count: int64(running.Len())})
		}
		return
	}
	for _, l := range c.Levels {
		if l.Class == ph.class && l.Reach.Heads.Len() > 0 {
			t.Skip(trace.Step{Verdict: trace.Verdict{Rule: trace.BorrowWithinCohort}, Node: l.Cohort})
		}
	}
}

// traceWithinNominal records that a queue is skipped from one of its workloads on, because
// it, or a cohort above it, is within its nominal quota.
func traceWithinNominal(t *trace.Recorder, c *right.Case, queue, common int, w *cluster.Workload) {
	t.Skip(trace.Step{Verdict: trace.Verdict{Rule: trace.WithinNominal}, Node: c.NotGiving(queue, common), Workload: w.Facts.ID, Count: 1})
}

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

// TraceRefused notes the workloads in the children of a cohort from a cursor on. The policy
// permits the first of none of them.
func TraceRefused(t *trace.Recorder, c *right.Case, cursor cluster.HeadCursor, class right.Class, except int, lane cluster.Lane) {
	for ; ; cursor.Next() {
		head, ok := cursor.Item()
		if !ok || head.Lane != lane {
			return
		}
		child := int(head.Node)
		switch {
		case child == except || c.View.WithinNominal(child, c.Needs):
		case c.Cluster.IsQueue(child):
			st := stream{surplus: lane.Surplus(), donor: right.Donor{Queue: child, Class: class}}
			st.cursor.First(*c.Cluster.Running(child).Lane(lane))
			st.traceRefused(t, c)
		default:
			var below cluster.HeadCursor
			cluster.SeekLane(&below, c.Cluster.Reach(child).Heads, lane)
			TraceRefused(t, c, below, class, -1, lane)
		}
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
