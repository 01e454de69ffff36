package workload

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
)

// Resources are amounts by resource: milli-CPU for cpu, base units (bytes, devices) for
// everything else. An absent resource is zero.
type Resources map[string]int64

// PodsResource is a resource of which every pod takes one. A node without it has no limit on
// the number of pods.
const PodsResource = "pods"

// Node is a machine. The zero value is invalid.
type Node struct {
	Name string `json:"name"`
	// Capacity is what pods may use of the node ("allocatable" in Kubernetes). An absent
	// resource is not available on the node; only an absent [PodsResource] means no limit.
	Capacity Resources `json:"capacity,omitempty"`
	// Labels are for filters; the built-in rules do not read them.
	Labels map[string]string `json:"labels,omitempty"`
	// Unschedulable excludes the node from all domains: nothing is placed there, and no unit is
	// preempted there.
	Unschedulable bool `json:"unschedulable,omitempty"`
}

// Clone returns a copy that shares nothing with n.
func (n Node) Clone() Node {
	n.Capacity, n.Labels = maps.Clone(n.Capacity), maps.Clone(n.Labels)
	return n
}

// Validate returns everything that is wrong with the node, as an error that lists each
// fault with its path under the given one: an empty name, a resource without a name, a
// capacity that is negative or over [quota.MaxUsage].
func (n *Node) Validate(path string) error {
	var faults fault.List
	if n.Name == "" {
		faults.Add(path+".name", "is empty")
	}
	n.Capacity.validate(&faults, path+".capacity")
	return faults.Err()
}

// over lists the resources of which there is more than a limit, and no more than can be counted, by name.
func (r Resources) over(limit int64) (names []string) {
	for name, amount := range r {
		if amount > limit && amount <= quota.MaxUsage && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (r Resources) validate(faults *fault.List, path string) {
	wrong := false
	for name, amount := range r {
		wrong = wrong || name == "" || amount < 0 || amount > quota.MaxUsage
	}
	if !wrong { // the usual case needs no order
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		switch amount := r[name]; {
		case name == "":
			faults.Add(path, "a resource without a name")
		case amount < 0:
			faults.Add(path+"."+name, "%d is negative", amount)
		case amount > quota.MaxUsage:
			faults.Add(path+"."+name, "%d is more than 2^62", amount)
		}
	}
}
