package assign

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/rules"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Request is a workload with requests that have no flavor.
type Request struct {
	// Base is the part that all searches share; its slots are not read.
	Base *right.Request
	// Rules has the rules of the queue; nil: there are none.
	Rules       *rules.Taker
	Fungibility queue.FlavorFungibility
	// NeverPreempts: no workload may yield for this one.
	NeverPreempts bool
	// PreemptsWhileBorrowing: the queue may preempt for a request that takes it over its
	// nominal quota.
	PreemptsWhileBorrowing bool
	// Given is the usage of the requests that came with a flavor.
	Given []quotatree.Load
	// Choices are made in order: by pod set, then by group. No two choices of a pod set have
	// the same group.
	Choices []Choice
}

// Choice is a resource group of a pod set. Taken and Tried are the result; the other fields
// are input.
type Choice struct {
	PodSet int
	// Group is nil for resources without quota in the queue.
	Group *Group
	// Constraints are the node constraints of the pod set; nil: none.
	Constraints *workload.NodeConstraints
	Items       []Item
	// First is the index of the first flavor to try.
	First int
	// Taken is the index of the assigned flavor in the group; -1: none.
	Taken int
	Tried []Tried
}

// Item is one requested resource.
type Item struct {
	Request  int // its index in the pod set
	Group    int // the index of its group in the plan; -1: none
	Resource int // its index in the group
	Amount   int64
	Verdict  Verdict // in the assigned flavor
}

// Assigner assigns flavors. Make it with the searcher that it should use. It may be reused,
// by one goroutine at a time.
type Assigner struct {
	Searcher *decide.Searcher
	// Steps counts the workloads that the trials of the last Assign looked at.
	Steps int

	cluster  *cluster.Cluster
	request  *Request
	taken    []quotatree.Load // the usage of earlier choices and of given requests
	verdicts []Verdict
	tried    []Tried
	asked    []load // in flavors that may fit
	// forecasts are what the searches for one column alone have found, also at an earlier instant of the same decision.
	forecasts map[load]forecast
	one       right.Request
	column    [1]int
	amount    [1]int64
	needs     [1]bool
	short     [1]search.Shortage
}

// Mode says how a request gets its quota. Higher is better.
type Mode uint8

const (
	// NoFit: not in this flavor, whatever yields.
	NoFit Mode = iota
	// NoCandidates: it would need preemption, and no workload may yield.
	NoCandidates
	// Preempt: workloads of the own queue yield.
	Preempt
	// Reclaim: only workloads of other queues yield.
	Reclaim
	// Fit: it fits.
	Fit
)

// Verdict is a mode with the height of the subtree that has the quota.
type Verdict struct {
	Mode   Mode
	Height int
}

// better orders verdicts: what does not fit is last, before it what has no candidates; the
// rest by the queue's preference.
func (v Verdict) better(than Verdict, p queue.FlavorPreference) bool {
	if v.Mode != than.Mode && (p == queue.BorrowingOverPreemption || min(v.Mode, than.Mode) <= NoCandidates) {
		return v.Mode > than.Mode
	}
	if v.Height != than.Height {
		return v.Height < than.Height
	}
	return v.Mode > than.Mode
}

// Passed says why the search went on after a flavor.
type Passed uint8

const (
	// Stopped: it did not go on.
	Stopped Passed = iota
	// NoQuota: the queue has no quota for a resource in the flavor.
	NoQuota
	// ExceedsMax: the request is more than the queue could use if nothing ran anywhere.
	ExceedsMax
	// NotReclaimable: it is over nominal quota, and the queue may not preempt for that.
	NotReclaimable
	// NeverPreempts: no workload may yield for this one.
	NeverPreempts
	// Hopeless: no workload may yield for it now.
	Hopeless
	// WouldPreempt: others have to yield (whenCanPreempt TryNextFlavor).
	WouldPreempt
	// WouldBorrow: the queue borrows (whenCanBorrow TryNextFlavor).
	WouldBorrow
	// NotEligible: the flavor is not eligible for the pod set.
	NotEligible
)

// Tried is the result of one flavor: that of its worst resource.
type Tried struct {
	Flavor int // index in the group
	Verdict
	Item   int   // the worst resource, an index in the choice's items
	Amount int64 // the requested amount with that of earlier choices
	Passed Passed
}

// load is an amount of one column.
type load struct {
	column int
	amount int64
}

// forecast is what a search for one column alone has found.
type forecast struct {
	Verdict
	since int64 // the instant of the search
	// at is the first instant after it at which time alone may change the result, if changes is true. Of a search with victims it is
	// known only once it was asked.
	at             int64
	changes, known bool
	// short is what a search without victims found short, if isShort is true.
	short   search.Shortage
	isShort bool
}
