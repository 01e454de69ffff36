package source

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
)

// What a recorder writes down of the candidates. It is called only when a decision is traced.

// TraceClass has the classes as traces name them.
var TraceClass = [...]trace.Class{right.Hierarchical: trace.Hierarchical, right.Priority: trace.Priority, right.Own: trace.Own}

// tracePhase notes that a phase begins; if the policy permits no workload of it, which it keeps.
func tracePhase(t *trace.Recorder, c *right.Case, ph *phase, p right.Permission) {
	evicted := ph.lanes[0] == cluster.Evicted
	t.Add(trace.Step{Kind: trace.PhaseBegins})
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
