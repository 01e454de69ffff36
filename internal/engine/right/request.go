package right

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/minruntime"
)

// Request is a request in dense form. Its slots are the columns that it asks for or needs
// preemption in. A decision does not change it.
type Request struct {
	Queue    int   // the node of the preemptor's queue
	Priority int64 // effective
	Queued   int64 // see cluster.Workload
	Now      int64
	Columns  []int   // by slot; -1 for a column that the cluster does not know
	Amounts  []int64 // by slot
	// Needs says by slot whether preemption is needed. With FindNeeds it is not read: the
	// search finds the slots that do not fit or, if there is no room, all slots with an
	// amount.
	Needs     []bool
	FindNeeds bool
	// MinAdmit is the queue's minAdmitDuration in nanoseconds; zero is none.
	MinAdmit   int64
	MinRuntime minruntime.Defaults
	Protection minruntime.Protection
	Fair       Fairness
	// Entitled has the fair shares that decide whose workloads are reclaimed, as in KAI; nil: none do.
	Entitled *Entitled
	// NeverYields: once it runs, the workload never yields. Only fair shares read it.
	NeverYields bool
	// LocalQueueUsage orders the candidates of each queue by the usage of their local queues,
	// most first; a local queue that is not listed has none. Empty: in the usual order.
	LocalQueueUsage map[string]float64
	// Better says how better victims are looked for.
	Better Better
	// Rules says how victims of rules are taken.
	Rules RuleOptions
	// Room is asked besides the quota; nil: only quota counts.
	Room Room
	// Forecast: only what the search in order finds is asked.
	Forecast bool
	// WithinNominal: victims are sought only for a request that stays within the nominal quota of
	// its queue in what needs preemption.
	WithinNominal bool
	Retry         Retry
	// Guard returns the last instant at which the caller's guards protect a workload: the
	// lowest int64 if they do not, the highest if they always do. Nil: no guards.
	Guard func(*cluster.Workload) int64
	// Limits limit the number of victims; nil: there are none.
	Limits *Limiter
	// Trace records the steps; nil: no recording.
	Trace *trace.Recorder
}

// Better says how the search looks for better victims than those found in order. The zero value does not.
type Better struct {
	Best bool
	// Steps limits the search of the best set; negative: exchanges alone make the victims better.
	Steps int
	// Candidates is how many candidates such exchanges take, besides twice as many as the search in order takes.
	Candidates  int
	FewestFirst bool
	// Cost is what a workload, or one replica of a surplus, loses, never below zero. Nil: each victim counts 1.
	Cost func(w *cluster.Workload, set int) int64
}

// Proves reports whether the best allowed set is looked for, not only a better one by exchanges.
func (b *Better) Proves() bool { return b.Best && b.Steps >= 0 }

// RuleOptions says how victims of rules are taken.
type RuleOptions struct {
	// Alone: the policies permit no workload.
	Alone bool
	// OfShares: the rules compare shares.
	OfShares bool
}

// Retry limits the search for RetryAt.
type Retry struct {
	// Skip: only whether time may help is asked.
	Skip bool
	// MaxSteps limits the workloads looked at.
	MaxSteps int
}

// Room says whether the request has a place on nodes without some workloads; see
// preemption.Room.
type Room interface {
	Remove(workload string)
	Restore(workload string)
	Fits() bool
}

// ReplicaRoom is a Room that can free replicas; see preemption.ReplicaRoom.
type ReplicaRoom interface {
	Room
	SetRemoved(workload, podSet string, replicas int64)
}

// LeavingRoom is a Room that knows what terminates there; see preemption.LeavingRoom.
type LeavingRoom interface {
	Room
	FitsSoon() bool
}
