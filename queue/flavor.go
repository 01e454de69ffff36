package queue

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/workload"
)

// Flavor says what is known about the nodes of a flavor (Kueue's ResourceFlavor). It decides
// which pod sets the flavor may be assigned to. The zero value is not valid: a flavor has a
// name. A flavor of which nothing is known counts as one with a name alone.
type Flavor struct {
	// Name is unique among the flavors.
	Name string `json:"name"`
	// NodeLabels are the labels of the nodes.
	NodeLabels map[string]string `json:"nodeLabels,omitempty"`
	// NodeTaints are the taints of the nodes.
	NodeTaints []workload.Taint `json:"nodeTaints,omitempty"`
	// Tolerations are added to the tolerations of the pods to which the flavor is assigned.
	Tolerations []workload.Toleration `json:"tolerations,omitempty"`
	// Topology is the tree of the nodes by which pods are placed. Zero: there is none, and the
	// flavor is for pods that ask for none; see [workload.TopologyRequest].
	Topology Topology `json:"topology,omitzero"`
}

// Topology is a tree of nodes (Kueue's Topology). The zero value is none.
type Topology struct {
	// Name is required.
	Name string `json:"name"`
	// Levels are the node labels that make the tree, the widest first. They are unique.
	Levels []string `json:"levels,omitempty"`
}

// Clone returns a copy that shares nothing with f.
func (f *Flavor) Clone() Flavor {
	topology := Topology{f.Topology.Name, slices.Clone(f.Topology.Levels)}
	return Flavor{f.Name, maps.Clone(f.NodeLabels), slices.Clone(f.NodeTaints), slices.Clone(f.Tolerations), topology}
}

// ValidateFlavors returns everything that is wrong with flavors, as an error that lists each
// fault with its path ("flavors[3].nodeTaints[0].effect"): an empty or duplicate name, a
// label with an empty key, what [workload.Taint.Validate] and [workload.Toleration.Validate]
// find, more than [workload.MaxNodeConstraints] taints, tolerations or levels of a topology, an empty or
// duplicate level, levels of a topology without name.
func ValidateFlavors(flavors []Flavor) error {
	var faults fault.List
	add := func(err error) {
		found, _ := err.(fault.List)
		faults = append(faults, found...)
	}
	at := make(map[string]int, len(flavors))
	for i := range flavors {
		f, path := &flavors[i], fmt.Sprintf("flavors[%d]", i)
		unique(&faults, "flavors", i, f.Name, at)
		if value, has := f.NodeLabels[""]; has {
			faults.Add(path+".nodeLabels", "has an empty key, with value %q (flavor %q)", value, f.Name)
		}
		for _, n := range [...]struct {
			field string
			count int
		}{{".nodeTaints", len(f.NodeTaints)}, {".tolerations", len(f.Tolerations)}, {".topology.levels", len(f.Topology.Levels)}} {
			if n.count > workload.MaxNodeConstraints {
				faults.Add(path+n.field, "%d: more than %d (flavor %q)", n.count, workload.MaxNodeConstraints, f.Name)
			}
		}
		for j := range f.NodeTaints[:min(len(f.NodeTaints), workload.MaxNodeConstraints)] {
			add(f.NodeTaints[j].Validate(fmt.Sprintf("%s.nodeTaints[%d]", path, j)))
		}
		for j := range f.Tolerations[:min(len(f.Tolerations), workload.MaxNodeConstraints)] {
			add(f.Tolerations[j].Validate(fmt.Sprintf("%s.tolerations[%d]", path, j)))
		}
		f.Topology.validate(&faults, path+".topology", f.Name)
	}
	return faults.Err()
}

func (t *Topology) validate(faults *fault.List, path, flavor string) {
	if t.Name == "" && len(t.Levels) > 0 {
		faults.Add(path+".name", "is empty (flavor %q)", flavor)
	}
	for i, level := range t.Levels[:min(len(t.Levels), workload.MaxNodeConstraints)] {
		at := fmt.Sprintf("%s.levels[%d]", path, i)
		if level == "" {
			faults.Add(at, "is empty (flavor %q)", flavor)
		} else if first := slices.Index(t.Levels, level); first < i {
			faults.Add(at, "%q is also levels[%d] (flavor %q)", level, first, flavor)
		}
	}
}
