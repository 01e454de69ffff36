package search

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/minruntime"
)

// Request is a request in dense form. Its slots are the columns that it asks for or needs
// preemption in. A search does not change it.
type Request struct {
	Queue    int   // the node of the preemptor's queue
	Priority int64 // effective
	Queued   int64 // see cluster.Workload
	Created  int64
	Now      int64
	Columns  []int   // by slot; -1 for a column that the cluster does not know
	Amounts  []int64 // by slot
	// Needs says by slot whether preemption is needed. With FindNeeds it is not read: the
	// search finds the slots that do not fit or, if there is no room, all slots with an
	// amount.
	Needs     []bool
	FindNeeds bool
	// MinAdmit is the queue's minAdmitDuration in nanoseconds; zero is none.
	MinAdmit int64
	// NewerByReservation: see Search.Newer.
	NewerByReservation bool
	MinRuntime         minimum.Config
	Protection         minruntime.Protection
	Fair               Fairness
	// LocalQueueUsage orders the candidates of each queue by the usage of their local queues,
	// most first; a local queue that is not listed has none. Empty: in the usual order.
	LocalQueueUsage map[string]float64
	// LargestFirst: if no victims are found, search again with the candidates of other queues
	// ordered by how much they free, most first.
	LargestFirst bool
	// Effort says what follows the search in order.
	Effort Effort
	// MaxCandidates are those of the exchanges, besides twice as many as the search in order
	// takes; MaxNodes, FewestFirst, IgnoreCaps, Certificate and Cost are those of the exact search.
	// Cost is what a workload, or one replica of a surplus, loses. Nil: each victim counts 1.
	MaxCandidates, MaxNodes              int
	FewestFirst, IgnoreCaps, Certificate bool
	Cost                                 func(w *cluster.Workload, set int) int64
	// Rules take victims after those whom the policies permit, if these are not enough; nil:
	// there are none. With RulesAlone the policies permit nobody.
	Rules      Rules
	RulesAlone bool
	// RulesOfShares: the rules compare shares.
	RulesOfShares bool
	// RuleLooks limits how often a tier looks at its candidates; 0: no limit. Without RuleRecheck a
	// victim is put back whatever constraints on quota then say of the others.
	RuleLooks   int
	RuleRecheck bool
	// Room is asked besides the quota; nil: only quota counts.
	Room Room
	// Forecast: only what the search in order finds is asked, as the assignment of flavors asks it.
	Forecast bool
	// WithinNominal: victims are sought only for a request that stays within the nominal quota of
	// its queue in what needs preemption.
	WithinNominal bool
	// SkipRetryAt: only whether time may help is asked.
	SkipRetryAt bool
	// MaxRetrySteps limits the workloads looked at to find RetryAt.
	MaxRetrySteps int
	// Guard returns the last instant at which the caller's guards protect a workload: the
	// lowest int64 if they do not, the highest if they always do. Nil: no guards.
	Guard func(*cluster.Workload) int64
	// Limits limit the number of victims; nil: there are none.
	Limits Limits
	// Trace records the steps; nil: no recording.
	Trace *trace.Recorder
}

// Effort is what follows the search in order. The zero value is nothing.
type Effort uint8

const (
	Exchange Effort = 1 + iota
	Exact
)

// Rules take victims; see package rules of the engine.
type Rules interface {
	// Take takes victims until the request fits. Those taken already stay taken.
	Take(s *Search) (fits bool)
	// Hopeless returns the first bound that proves that the request fits at no time by policies or rules; by
	// rules alone what is short in it is recorded. Victims: there is none.
	Hopeless(s *Search) usage.Gone
	// Justified returns what must hold of the victims that remain when one is put back; nil: nothing.
	Justified(s *Search) Justified
	// Reset begins a search: triggers have been observed as the request says.
	Reset()
	// NextChange returns the first instant after that of the search at which the rules may permit
	// others; ok is false if there is none.
	NextChange(s *Search) (at int64, ok bool)
	// FirstFit returns an instant, not before that of the search, before which rules alone make the
	// request fit at no time; ok is false if they never do. certain: they do at that instant. Nobody may
	// be taken.
	FirstFit(s *Search) (at int64, certain, ok bool)
}

// Victim is a workload, or replicas of its surplus, that was taken.
type Victim struct {
	Workload *cluster.Workload
	// Set is the index of the surplus that the replicas belong to; -1: the whole workload, or
	// what is left of it.
	Set int
	// Count is the number of replicas.
	Count int64
	// Cohort is the cohort reclaimed through; -1 in the preemptor's own queue.
	Cohort int
	// WhileBorrowing: taken by the right of borrowWithinCohort.
	WhileBorrowing bool
	// Expired: taken only because its time is over.
	Expired bool
	// Fair: taken by a strategy of fair sharing, which compared the level's children on the
	// preemptor's side and on the victim's side (Side).
	Fair bool
	// ByRules: taken by rules, as package rules has them; Taking is the number of the taking there.
	ByRules bool
	Taking  int32
	// Turn is for the reader of a result to number the victims.
	Turn int32

	Level int32 // for Fair: an index of the levels
	Queue int   // the node of the victim's queue
	Side  int
}

// Partial reports whether replicas yield, and not the whole workload.
func (v *Victim) Partial() bool { return v.Set >= 0 || v.Workload.Leaving > 0 }

// PodSet returns the name of the pod set whose replicas yield; empty: the whole workload does.
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

// load returns what a victim frees in a column.
func (v *Victim) load(column int) int64 {
	if v.Set >= 0 {
		return quotatree.AmountIn(v.Workload.Surplus[v.Set].Loads, column)
	}
	return quotatree.AmountIn(v.Workload.Loads, column)
}
