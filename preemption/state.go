package preemption

import (
	"github.com/cedesched/cede/internal/base/jsonform"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// State is what a snapshot is made of, as plain data. Its JSON form round-trips; with a
// [Request] it is a complete report of a decision (see [Record]). The zero value is an empty
// cluster.
type State struct {
	// Cohorts are the inner nodes of the quota tree.
	Cohorts []queue.Cohort `json:"cohorts,omitempty"`
	// Queues are its leaves.
	Queues []queue.Queue `json:"queues,omitempty"`
	// Flavors says what is known about the nodes of flavors. A flavor that is not listed is
	// eligible for any pod set.
	Flavors []queue.Flavor `json:"flavors,omitempty"`
	// Rules are preemption rules; a queue refers to one by name ([queue.Queue.Rules]).
	Rules []rules.Config `json:"rules,omitempty"`
	// FairShares, if it is not zero, has what the queues are entitled to as in KAI, which [KAI] reads: a queue for each
	// queue and cohort of the state, with the same parents; one cohort above all of them may be missing. Request of a
	// claim is what all workloads of the queue request, those that run included; usage is that of the
	// workloads here, and stays zero. [QueuesOf] makes queues for a tree.
	FairShares fairshare.Tree `json:"fairShares,omitzero"`
	// Admitted are the workloads that hold quota, including those being evicted.
	Admitted []workload.Workload `json:"admitted,omitempty"`
}

// Record is a state and a request: everything that a decision depends on, besides the
// [Config]. As JSON, with every field set:
//
//	{"state": {
//	   "cohorts":  [{"name": "research", "parent": "org", "quotas": [...]}, {"name": "org"}],
//	   "queues":   [{"name": "team-a", "cohort": "research",
//	                 "quotas": [{"flavor": "h100", "resource": "gpu", "nominal": 8, "borrowingLimit": 8, "lendingLimit": 4}],
//	                 "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any",
//	                                "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 100}},
//	                 "flavorFungibility": {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor",
//	                                       "preference": "PreemptionOverBorrowing"}}],
//	   "flavors":  [{"name": "h100", "nodeLabels": {"gpu": "h100"},
//	                 "nodeTaints": [{"key": "gpu", "value": "h100", "effect": "NoSchedule"}],
//	                 "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]}],
//	   "admitted": [{"id": "a/train", "uid": "5f3c", "queue": "team-a", "priority": 100, "priorityBoost": -5,
//	                 "created": "2026-11-21T08:00:00Z", "queued": "2026-11-21T08:00:00Z",
//	                 "reservedAt": "2026-11-21T08:05:00Z", "evicted": true, "neverYields": true, "neverPreempts": true,
//	                 "podSets": [{"name": "main", "count": 4,
//	                              "requests": [{"flavor": "h100", "resource": "gpu", "amount": 2}],
//	                              "nodeConstraints": {
//	                                "nodeSelector": {"gpu": "h100"},
//	                                "nodeAffinity": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}],
//	                                "tolerations": [{"key": "spot", "value": "true", "effect": "NoSchedule"}]}}]}]},
//	 "request": {"workload": {...}, "needsPreemption": [{"flavor": "h100", "resource": "gpu"}],
//	             "now": "2026-11-21T12:00:00Z"}}
type Record struct {
	State   State    `json:"state"`
	Request *Request `json:"request,omitempty"`
}

// ParseState reads the JSON form of a [State]. It fails on malformed JSON and anything after the
// object, and names the offset; and with [Faults] on unknown fields, fields that an object has
// twice, and values of another type. [NewSnapshot] validates the state; ParseState does not.
func ParseState(data []byte) (State, error) { return jsonform.Parse[State]("preemption", data) }

// ParseRecord reads the JSON form of a [Record]. It fails as [ParseState] does.
func ParseRecord(data []byte) (Record, error) { return jsonform.Parse[Record]("preemption", data) }
