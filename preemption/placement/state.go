package placement

import (
	"github.com/cedesched/cede/internal/base/jsonform"
	"github.com/cedesched/cede/workload"
)

// State is what a snapshot is made of, as plain data. Its JSON form round-trips. The zero value is an empty cluster.
type State struct {
	Nodes []workload.Node `json:"nodes,omitempty"`
	// Pods are the running pods, including those that terminate.
	Pods []workload.Pod `json:"pods,omitempty"`
	// Nominated are the waiting pods that are promised room on a node ([workload.Pod.Node]). Requests that are not of
	// higher priority leave that room free.
	Nominated []workload.Pod              `json:"nominated,omitempty"`
	Groups    []workload.PodGroup         `json:"groups,omitempty"`
	Budgets   []workload.DisruptionBudget `json:"budgets,omitempty"`
	// Claims are devices that pods hold, alone or together.
	Claims []workload.Claim `json:"claims,omitempty"`
}

// Record is a state and a request: everything that a decision depends on, besides the [Config].
type Record struct {
	State   State    `json:"state"`
	Request *Request `json:"request,omitempty"`
}

// ParseState reads the JSON form of a [State]. It fails on malformed JSON and anything after the object, and names
// the offset; and with preemption.Faults on unknown fields, fields that an object has twice, and values of another type.
// [NewSnapshot] validates the state; ParseState does not.
func ParseState(data []byte) (State, error) { return jsonform.Parse[State]("placement", data) }

// ParseRecord reads the JSON form of a [Record]. It fails as [ParseState] does.
func ParseRecord(data []byte) (Record, error) { return jsonform.Parse[Record]("placement", data) }
