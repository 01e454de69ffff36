package kueue

import (
	"fmt"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Topology is Kueue's object: the tree of the nodes of a flavor.
type Topology struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     TopologySpec    `json:"spec"`
}

// TopologySpec is that of a Topology.
type TopologySpec struct {
	Levels []TopologyLevel `json:"levels"` // the widest first
}

// TopologyLevel is a level of the tree: the nodes with the same value of a label.
type TopologyLevel struct {
	NodeLabel string `json:"nodeLabel"`
}

// TopologyRequest is what a pod set asks of the topology. The fields beside the levels bear on where the
// pods go, not on the flavor.
type TopologyRequest struct {
	Required                    string `json:"required"`
	Preferred                   string `json:"preferred"`
	Unconstrained               *bool  `json:"unconstrained"` // set, to whatever value, it asks for a topology
	PodSetSliceRequiredTopology string `json:"podSetSliceRequiredTopology"`
	PodSetSliceSize             *int64 `json:"podSetSliceSize"`
	// PodSetGroupName and SliceConstraints are read to say that they are not looked at.
	PodSetGroupName  string     `json:"podSetGroupName"`
	SliceConstraints []struct{} `json:"podsetSliceRequiredTopologyConstraints"`
}

func (t *Topology) key() string { return "Topology " + t.Metadata.Name }

// read keeps the levels.
func (t *Topology) read() (*entry, error) {
	out := queue.Topology{Name: t.Metadata.Name}
	for _, level := range t.Spec.Levels {
		out.Levels = append(out.Levels, level.NodeLabel)
	}
	if first, more := firstFault(queue.ValidateFlavors([]queue.Flavor{{Name: "f", Topology: out}})); first != "" {
		return nil, fmt.Errorf("spec.levels: %s%s", strings.TrimPrefix(first, "flavors[0].topology."), more)
	}
	return &entry{value: out}, nil
}

// asked returns what a pod set asks for. A request with none of these asks for no topology; one without a level is for any
// place.
func (r *TopologyRequest) asked() workload.TopologyRequest {
	if r == nil || r.Required+r.Preferred+r.PodSetSliceRequiredTopology == "" && r.Unconstrained == nil && r.PodSetSliceSize == nil && len(r.SliceConstraints) == 0 {
		return workload.TopologyRequest{}
	}
	out := workload.TopologyRequest{Required: r.Required, Preferred: r.Preferred, SliceRequired: r.PodSetSliceRequiredTopology}
	out.Unconstrained = out.Required+out.Preferred+out.SliceRequired == ""
	return out
}

// resolveTopologies gives the flavors the levels of their topologies, and says which answers depend on
// what is not known: levels, and room in the domains of a topology.
func (b *builder) resolveTopologies() {
	levels := map[string][]string{}
	for _, t := range b.topologies {
		levels[t.Name] = t.Levels
	}
	for i := range b.c.State.Flavors {
		f := &b.c.State.Flavors[i]
		f.Topology.Levels = levels[f.Topology.Name]
	}
	for i := range b.c.Pending {
		p := &b.c.Pending[i]
		for _, d := range b.c.TopologyDoubts(&p.Workload) {
			b.doubtPending(p, d)
		}
	}
}

// doubtPending adds a doubt about a workload that waits. It is a note of its.
func (b *builder) doubtPending(p *bridge.Pending, d bridge.Doubt) {
	b.c.Doubts = append(b.c.Doubts, d)
	p.Notes = append(p.Notes, d.Note)
}
