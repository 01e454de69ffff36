package search

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Request is a request in dense form. Its slots are the columns that it asks for or
// needs preemption in.
type Request struct {
	Queue    int   // node of the preemptor's queue
	Priority int64 // effective
	Queued   int64 // see cluster.Workload
	Created  int64
	Now      int64
	Columns  []int   // by slot; -1 for one that the cluster does not know
	Amounts  []int64 // by slot
	// Needs says by slot whether it needs preemption. Where FindNeeds is set, Search
	// writes it: those need it that do not fit, or all that take anything when there is
	// no room.
	Needs     []bool
	FindNeeds bool
	// MinAdmit is the minAdmitDuration of the queue in nanoseconds; zero is none.
	MinAdmit int64
	// NewerByReservation: see Searcher.newer.
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

	queue int
	level int
	side  int
}

// Result is what a search found. Its slices belong to the searcher and are good
// until its next use.
type Result struct {
	// Fits: no victim is needed.
	Fits bool
	// Victims is empty when the request fits, or cannot.
	Victims []Victim
	// BorrowHeight is that of the request with the victims gone.
	BorrowHeight int
	// Shortages and Blockers are there when the request does not fit and has no
	// victims.
	Shortages []Shortage
	Blockers  []Blocker
	// NoRoom: with everybody gone who may yield the quota would do, but not the room.
	NoRoom bool
	// RetryAt is, where Waits is true, the first instant at which time alone makes
	// the request possible.
	RetryAt int64
	Waits   bool
	// Steps counts the workloads that were looked at.
	Steps int
}

// load is what a victim frees of a column.
func (v *Victim) load(column int) int64 {
	if v.Set >= 0 {
		return quotatree.AmountIn(v.Workload.Surplus[v.Set].Loads, column)
	}
	return quotatree.AmountIn(v.Workload.Loads, column)
}
