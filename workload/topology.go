package workload

import (
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
)

// TopologyRequest asks that the pods of a pod set are placed by the topology of the nodes (Kueue's
// PodSetTopologyRequest). It decides which flavors the pod set may have: those with a topology that has
// the levels that it names. Whether there is room in a domain is the question of
// preemption.Request.Room. At most one of Required, Preferred and Unconstrained is set. The zero value
// asks for no topology.
type TopologyRequest struct {
	// Required is the level at which all pods go into one domain.
	Required string `json:"required,omitempty"`
	// Preferred is the level at which all pods go into one domain if they can.
	Preferred string `json:"preferred,omitempty"`
	// Unconstrained: the pods go anywhere in the topology.
	Unconstrained bool `json:"unconstrained,omitzero"`
	// SliceRequired is the level at which all pods of one slice of the pod set go into one domain.
	SliceRequired string `json:"sliceRequired,omitempty"`
}

// IsZero reports whether no topology is asked for.
func (t TopologyRequest) IsZero() bool { return t == TopologyRequest{} }

// MissingFrom returns the first level that the request names and that is not among the given ones;
// empty if there is none.
func (t *TopologyRequest) MissingFrom(levels []string) string {
	for _, level := range [...]string{t.Required, t.Preferred, t.SliceRequired} {
		if level != "" && !slices.Contains(levels, level) {
			return level
		}
	}
	return ""
}

func (t *TopologyRequest) validate(faults *fault.List, path string) {
	switch {
	case t.Required != "" && t.Preferred != "":
		faults.Add(path+".preferred", "%q, and %q is required: want one of them", t.Preferred, t.Required)
	case t.Unconstrained && t.Required+t.Preferred != "":
		faults.Add(path+".unconstrained", "is set, and so is %q: want one of them", t.Required+t.Preferred)
	}
}
