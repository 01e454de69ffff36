package preemption

import (
	"fmt"

	"github.com/cedesched/cede/internal/base/jsonform"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// State is what a snapshot is made of, in plain values. Its JSON form round-trips;
// with a [Request] beside it, it is a complete report of a decision (see [Record]).
// The zero value is an empty cluster.
type State struct {
	// Cohorts is the inner nodes of the quota tree.
	Cohorts []queue.Cohort `json:"cohorts,omitempty"`
	// Queues is its leaves.
	Queues []queue.Queue `json:"queues,omitempty"`
	// Flavors is what is known of the nodes of flavors. Nothing is known of a flavor that
	// is not in it: any pod set may have it.
	Flavors []queue.Flavor `json:"flavors,omitempty"`
	// Admitted is the workloads that hold quota, those being evicted included.
	Admitted []workload.Workload `json:"admitted,omitempty"`
}

// Record is a state and a request about it: all that a decision depends on, besides
// the [Config]. As JSON, with every field that is not at its zero value:
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
//	                 "reservedAt": "2026-11-21T08:05:00Z", "evicted": true, "neverPreempts": true,
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

// ParseState reads the JSON form of a [State]. It fails on malformed JSON, unknown
// fields and anything after the object, naming the offset or field. The state is
// not validated; [NewSnapshot] does that.
func ParseState(data []byte) (State, error) {
	var st State
	return st, parse(data, &st)
}

// ParseRecord reads the JSON form of a [Record]. It fails as [ParseState] does.
func ParseRecord(data []byte) (Record, error) {
	var r Record
	return r, parse(data, &r)
}

func parse(data []byte, into any) error {
	if err := jsonform.Read(data, into); err != nil {
		return fmt.Errorf("preemption: %w", err)
	}
	return nil
}
