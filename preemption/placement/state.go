package placement

import (
	"fmt"

	"github.com/cedesched/cede/internal/base/jsonform"
	"github.com/cedesched/cede/workload"
)

// State is what a snapshot is made of, as plain data. Its JSON form round-trips. The zero
// value is an empty cluster.
type State struct {
	Nodes []workload.Node `json:"nodes,omitempty"`
	// Pods are the running pods, including those that terminate.
	Pods []workload.Pod `json:"pods,omitempty"`
	// Nominated are the waiting pods that are promised room on a node ([workload.Pod.Node]).
	// Requests that are not of higher priority leave that room free.
	Nominated []workload.Pod              `json:"nominated,omitempty"`
	Groups    []workload.PodGroup         `json:"groups,omitempty"`
	Budgets   []workload.DisruptionBudget `json:"budgets,omitempty"`
}

// Record is a state and a request: everything that a decision depends on, besides the
// [Config].
type Record struct {
	State   State    `json:"state"`
	Request *Request `json:"request,omitempty"`
}

// ParseState reads the JSON form of a [State]. It fails on malformed JSON, unknown fields and
// anything after the object, and names the offset or field. [NewSnapshot] validates the
// state; ParseState does not.
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
		return fmt.Errorf("placement: %w", err)
	}
	return nil
}
