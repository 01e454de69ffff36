// Package safe says until when a running workload may count on what it holds: the first instant at which any
// request that the configuration admits could make it yield, and the least such request.
//
//	asker, err := safe.New(preemptor, snapshot, safe.Options{Now: now})
//	answer, err := asker.Until("team-a/train")
//	if answer.Outcome == safe.Later {
//		checkpointBefore(answer.At)
//	}
//
// # Any request
//
// A request is a workload of any active queue, of any priority of 32 bits, queued at any instant ([Options.Since]),
// that asks for any amounts of what its queue has quota for, in pod sets of any shape. In sharing as in KAI it counts for the shares, as
// one that is made at that instant, or as one of those that wait already, if as much waits. It comes alone, and what runs
// stays: when something starts, ends or the configuration changes, ask again. What is left out are the ways to ask that change
// the order of candidates or what is asked about: columns given as those that need preemption, usages of local queues, an
// observed trigger of rules, and workloads that replace others or hold quota already. Where requests need room on nodes beside quota
// ([Options.OnNodes]), the answer is known only before the first right begins.
//
// # How it is found
//
// The rights of each queue are those of decisions ([preemption.Preemptor.Exposure]): before the first of them begins nobody can name the
// workload. At each instant at which anything may change from then on, requests at the critical priorities are looked at, for each
// combination of resources: where the turn of the workload comes among their candidates ([preemption.Preemptor.Turns],
// [preemption.Preemptor.TurningAmounts]), unless its queue has given all that it can before ([preemption.Preemptor.Reached]). The answer is
// one that [preemption.Preemptor.Decide] gives. Where a feature lets other requests count than those, and none of those names the workload,
// the answer is Unknown, with the feature.
//
// [UntilOnNodes] answers the same for a pod on its node.
//
// The zero value of an [Answer] is invalid. Errors are preemption.Faults: a bad option, a workload that does not run.
// The question is this library's own; the rules are those of preemption, most of them Kueue's.
package safe

import (
	"time"

	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
)

// Options are the options of [New]. Only Now must be set.
type Options struct {
	// Now is the instant of the question.
	Now time.Time
	// Since is when the requests are queued at the earliest: set it to Now to ask about new requests only. The zero
	// value also has requests that are older than everything that runs.
	Since time.Time
	// History holds the preemptions that limits count; see [preemption.Request.History].
	History *limits.History
	// GuardsReadWorkloads says that the verdict of every guard depends on the running workload alone. Otherwise, where there are
	// guards, the answer is Unknown from the first instant on at which the rules permit what no request that was asked gets.
	GuardsReadWorkloads bool
	// OnNodes lists the flavors of which requests need room on nodes beside quota: for room, whatever uses such a flavor may yield to whoever
	// has a right, needed for quota or not. So from then on the answer is Unknown, or Now or Later with a request that quota alone asks for.
	OnNodes []string
	// MaxDecisions limits the decisions about one workload. Zero is 20,000; negative is an error.
	MaxDecisions int
}

const defaultDecisions = 20_000

// Outcome is an answer in one word. The zero value is invalid.
type Outcome uint8

const (
	// Never: while what runs stays, no request names the workload, at any time.
	Never Outcome = 1 + iota
	// Later: before At no request names it; at At the Request does.
	Later
	// Now: the Request names it now.
	Now
	// Unknown: before At no request names it; from then on Doubts keep the answer from being known.
	Unknown
	// Leaving: it was told to leave already.
	Leaving
)

var outcomes = enum.Names[Outcome]{Type: "Outcome", First: 1, List: []string{"Never", "Later", "Now", "Unknown", "Leaving"}}

// String returns the name of the constant.
func (o Outcome) String() string { return outcomes.String(o) }

// MarshalText returns the name of the constant.
func (o Outcome) MarshalText() ([]byte, error) { return outcomes.Marshal(o) }

// UnmarshalText reads the name of a constant.
func (o *Outcome) UnmarshalText(text []byte) error { return outcomes.Unmarshal(text, o) }

// Doubt is a feature that keeps an answer from being known. The zero value is invalid.
type Doubt uint8

const (
	// Guards of the caller may read the request.
	Guards Doubt = 1 + iota
	// Rules of operators may accept the workload.
	Rules
	// Limits on preemptions refuse some victims, so that others are taken.
	Limits
	// FairSharing: shares, not turns, decide who yields.
	FairSharing
	// BestSearch: another search than the one in order decides who yields.
	BestSearch
	// SeveralResources: requests for several resources take the workload before others, and those that were asked put it back; or a
	// queue with a right has quota for more than five resources of flavors, of which only pairs were asked for.
	SeveralResources
	// Decisions: [Options.MaxDecisions] are used up.
	Decisions
	// Filters of the caller, of nodes, may refuse the requests that were asked, and accept others.
	Filters
	// Budgets: disruption budgets that must not be violated keep the pod from the requests that were asked.
	Budgets
	// Rooms: the workload may yield for room on nodes, which was not asked.
	Rooms
)

var doubts = enum.Names[Doubt]{Type: "Doubt", First: 1, List: []string{"Guards", "Rules", "Limits", "FairSharing", "BestSearch", "SeveralResources", "Decisions", "Filters", "Budgets", "Rooms"}}

// String returns the name of the constant.
func (d Doubt) String() string { return doubts.String(d) }

// MarshalText returns the name of the constant.
func (d Doubt) MarshalText() ([]byte, error) { return doubts.Marshal(d) }

// UnmarshalText reads the name of a constant.
func (d *Doubt) UnmarshalText(text []byte) error { return doubts.Unmarshal(text, d) }

// Answer says until when a workload is safe. The zero value is invalid.
type Answer struct {
	Workload string  `json:"workload"`
	Queue    string  `json:"queue"`
	Outcome  Outcome `json:"outcome"`
	// At is for Later and Unknown the first instant at which it may yield, at the earliest Now; for Now it is Now. Else zero.
	At time.Time `json:"at,omitzero"`
	// Request is for Later and Now the least request that names the workload at At. Else nil.
	Request *Request `json:"request,omitempty"`
	// Keeps lists for Never and Later the rules that keep it now from requests of its own queue, and from those of others: each
	// rule once, by the first queue (name) that it is asked for. Empty, with Never: rights there are, but no request needs it.
	Keeps []Kept `json:"keeps,omitempty"`
	// Doubts is for Unknown why.
	Doubts []Doubt `json:"doubts,omitempty"`
}

// Kept is a rule that keeps the workload from yielding to requests of a queue.
type Kept struct {
	Rule preemption.Rule `json:"rule"`
	// By is the queue of the requests.
	By string `json:"by"`
	// Until is the last instant at which the rule holds; zero if time does not end it.
	Until time.Time `json:"until,omitzero"`
}

// Request is a request that names the workload. Of those that ask for the fewest resources it is the least by queue (name), priority and
// amount; in the own queue of those that are as new as can be, or just older than the workload. Where shares, limits or another search
// decide it is the least that was asked, and a lesser one may do.
type Request struct {
	Queue    string `json:"queue"`
	Priority int64  `json:"priority"`
	// Queued is zero if it is as new as can be; else the request has to be that old.
	Queued time.Time      `json:"queued,omitzero"`
	Asks   []quota.Amount `json:"asks"`
	// Reason is the right by which the workload yields. Replicas says that only surplus does.
	Reason   preemption.VictimReason `json:"reason"`
	Replicas bool                    `json:"replicas,omitzero"`
}
