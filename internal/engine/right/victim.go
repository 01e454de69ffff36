package right

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Victim is a candidate, and once it is taken a victim: a workload, or replicas of its surplus.
type Victim struct {
	Workload *cluster.Workload
	// Set is the index of the surplus that the replicas belong to; -1: the whole workload, or
	// what is left of it.
	Set int
	// Count is the number of replicas.
	Count int64
	// Cohort is the cohort reclaimed through; -1 in the preemptor's own queue.
	Cohort int
	// WhileBorrowing: by the right of borrowWithinCohort.
	WhileBorrowing bool
	// Expired: only because its time is over.
	Expired bool
	// Fair: by a strategy of fair sharing, which compared the level's children on the
	// preemptor's side and on the victim's side (Side).
	Fair bool
	// ByRules: by rules, as package rules has them; Taking is the number of the taking there.
	ByRules bool
	Taking  int32
	// Turn is for the reader of a result to number the victims.
	Turn int32

	Level int32 // for Fair: an index of the levels
	Queue int   // the node of the victim's queue
	Side  int
}

// Right returns the right by which the victim yields.
func (v *Victim) Right() trace.Right {
	switch {
	case v.ByRules:
		return trace.ByRules
	case v.Expired:
		return trace.TimeIsOver
	case v.Cohort < 0:
		return trace.InQueue
	case v.Fair:
		return trace.ByShares
	case v.WhileBorrowing:
		return trace.ReclaimedWhileBorrowing
	}
	return trace.Reclaimed
}

// Partial reports whether replicas yield, and not the whole workload.
func (v *Victim) Partial() bool { return v.Set >= 0 || v.Workload.Leaving > 0 }

// Alike reports whether both are replicas of one surplus, taken by one right: what holds of the one holds of the other.
func (v *Victim) Alike(o *Victim) bool {
	return v.Set >= 0 && v.Workload == o.Workload && v.Set == o.Set && v.Fair == o.Fair
}

// PodSet returns the name of the pod set of which replicas yield; empty: the whole workload
// yields.
func (v *Victim) PodSet() string {
	switch w := v.Workload; {
	case v.Set >= 0:
		return w.PodSets[w.Surplus[v.Set].PodSet].Name
	case w.Leaving > 0:
		return w.PodSets[0].Name
	}
	return ""
}

// Replicas returns how many replicas yield, and whether they are leaving already; none if the
// whole workload yields.
func (v *Victim) Replicas() (count int64, leaving bool) {
	switch w := v.Workload; {
	case v.Set >= 0:
		return v.Count, false
	case w.Leaving > 0:
		return w.PodSets[0].Count, true
	}
	return 0, false
}

// Load returns what a victim frees in a column.
func (v *Victim) Load(column int) int64 {
	if v.Set >= 0 {
		return quotatree.AmountIn(v.Workload.Surplus[v.Set].Loads, column)
	}
	return quotatree.AmountIn(v.Workload.Loads, column)
}

// GoesWhole reports whether a workload is among the victims as a whole.
func GoesWhole(w *cluster.Workload, victims []Victim) bool {
	for i := range victims {
		if victims[i].Workload.Is(w) && !victims[i].Partial() {
			return true
		}
	}
	return false
}

// StepOf is a step about a victim.
func StepOf(kind trace.Kind, v *Victim) trace.Step {
	step := trace.Step{Kind: kind, Workload: v.Workload.Facts.ID, Node: v.Queue, PodSet: -1, Right: v.Right(), Evicted: v.Workload.Facts.Evicted}
	switch w := v.Workload; {
	case v.Set >= 0:
		step.PodSet, step.Replicas = w.Surplus[v.Set].PodSet, v.Count
	case w.Leaving > 0:
		step.PodSet, step.Replicas = w.Leaving-1, w.PodSets[0].Count
	}
	return step
}
