package preemption

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/assign"
	"github.com/cedesched/cede/workload"
)

// Mismatch says why a flavor is not eligible for a pod set: one of Topology, Taint and
// Requirement is set. A requirement counts only if some flavor of the resource group has a label with its
// key (Kueue's flavor assigner as built).
type Mismatch struct {
	// Topology says what is wrong with the topology of the flavor. It is judged first.
	Topology TopologyMismatch `json:"topology,omitzero"`
	// Level is, for NoTopologyLevel, the first level that the pod set asks for and the topology lacks.
	Level string `json:"level,omitempty"`
	// Taint is the first taint of the flavor, NoSchedule or NoExecute, that neither the pod
	// set nor the flavor tolerates.
	Taint *workload.Taint `json:"taint,omitempty"`
	// Requirement is what the labels of the flavor do not satisfy. For the node selector it
	// is In with one value, the first by key. For the required node affinity, of which no
	// term is satisfied, it is the first unsatisfied requirement of the first term.
	Requirement *workload.LabelRequirement `json:"requirement,omitempty"`
	// Label is the flavor's value for the key of the requirement. Also empty if it has none.
	Label string `json:"label,omitempty"`
}

// mismatch asks again about a flavor that is not eligible; remembering the reason would cost
// the eligible ones. The answer does not refer to the snapshot or the request.
func mismatch(ch *assign.Choice, t assign.Tried) *Mismatch {
	if t.Passed != assign.NotEligible {
		return nil
	}
	found := ch.Group.Mismatch(t.Flavor, ch.Constraints)
	if found.Topology != assign.SuitsTopology {
		return &Mismatch{Topology: TopologyMismatch(found.Topology), Level: found.Level} // the constants are the same
	}
	if found.Taint != nil {
		taint := *found.Taint
		return &Mismatch{Taint: &taint}
	}
	r := *found.Requirement
	r.Values = slices.Clone(r.Values)
	return &Mismatch{Requirement: &r, Label: ch.Group.Label(t.Flavor, r.Key)}
}
