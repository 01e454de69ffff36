package search

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Request is a request in dense form. Its slots are the columns that it asks for or
// needs preemption in. A search does not change it.
type Request struct {
	Queue    int   // node of the preemptor's queue
	Priority int64 // effective
	Queued   int64 // see cluster.Workload
	Created  int64
	Now      int64
	Columns  []int   // by slot; -1 for one that the cluster does not know
	Amounts  []int64 // by slot
	// Needs says by slot whether it needs preemption. With FindNeeds it is not read: the
	// search finds what does not fit or, when there is no room, all that takes anything.
	Needs     []bool
	FindNeeds bool
	// MinAdmit is the minAdmitDuration of the queue in nanoseconds; zero is none.
	MinAdmit int64
	// NewerByReservation: see Search.Newer.
	NewerByReservation bool
	MinRuntime         minimum.Config
	Fair               Fairness
	// LargestFirst: when nobody is found, try again with the candidates of other
	// queues in the order of what they free.
	LargestFirst bool
	// Room is asked besides the quota; nil: the quota is all.
	Room Room
	// SkipRetryAt: whether time may help is all that is asked.
	SkipRetryAt bool
	// MaxRetrySteps bounds the workloads that are looked at to find RetryAt.
	MaxRetrySteps int
	// Guard returns the last instant at which rules of the caller protect a workload:
	// the lowest int64 when they do not, the highest when they always do. Nil: no rules.
	Guard func(*cluster.Workload) int64
	// Trace records how the answer came about; nil: nobody wants to know.
	Trace *trace.Recorder
}

// Room says whether the request has a place on nodes with some workloads away; see
// preemption.Room.
type Room interface {
	Remove(workload string)
	Restore(workload string)
	Fits() bool
}

// Victim is what is taken: a workload, or replicas of its surplus.
type Victim struct {
	Workload *cluster.Workload
	// Set is the index of the surplus that replicas are taken of; -1: the whole
	// workload, or what is left of it.
	Set int
	// Count is how many replicas.
	Count int64
	// Cohort is the node reclaimed through; -1 for the preemptor's own queue.
	Cohort int
	// WhileBorrowing: taken by the right of borrowWithinCohort.
	WhileBorrowing bool
	// Expired: taken for nothing but that its time is over.
	Expired bool
	// Fair: taken by a fair-sharing strategy, which compared the child of a level's
	// cohort that the preemptor is in with side.
	Fair bool

	Queue int // node
	Level int // of Fair: an index of the levels
	Side  int
}

// load is what a victim frees of a column.
func (v *Victim) load(column int) int64 {
	if v.Set >= 0 {
		return quotatree.AmountIn(v.Workload.Surplus[v.Set].Loads, column)
	}
	return quotatree.AmountIn(v.Workload.Loads, column)
}
