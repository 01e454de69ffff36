package witness

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Mismatch says why the pods of a pod set may not run on the nodes of a flavor; nil: they may. Nothing is known of a
// flavor that is not in the list. The design: "a flavor fits a pod set if its taints are tolerated (by pod set or flavor
// tolerations) and its node labels match the pod set's node selector and required node
// affinity, looking only at keys that some flavor of the group has." Nil: it fits.
func Mismatch(flavors []queue.Flavor, q *queue.Queue, flavor string, c *workload.NodeConstraints) *preemption.Mismatch {
	var group []string // the flavors of its resource group
	for _, g := range q.ResourceGroups() {
		if slices.Contains(g.Flavors, flavor) {
			group = g.Flavors
		}
	}
	if c == nil {
		c = &workload.NodeConstraints{}
	}
	var own queue.Flavor
	counts := map[string]bool{} // the keys that count
	for _, f := range flavors {
		if f.Name == flavor {
			own = f
		}
		for key := range f.NodeLabels {
			counts[key] = counts[key] || slices.Contains(group, f.Name)
		}
	}
	if m := topology(flavors, q, c.Topology, &own); m != nil {
		return m
	}
	if m := taints(&own, c); m != nil {
		return m
	}
	return labels(&own, c, counts)
}

// taints: "its taints are tolerated (by pod set or flavor tolerations)". Nil: it fits.
func taints(own *queue.Flavor, c *workload.NodeConstraints) *preemption.Mismatch {
	for _, taint := range own.NodeTaints {
		if taint.Effect == workload.PreferNoSchedule {
			continue
		}
		tolerates := func(t workload.Toleration) bool { return t.Tolerates(&taint) }
		if !slices.ContainsFunc(slices.Concat(c.Tolerations, own.Tolerations), tolerates) {
			return &preemption.Mismatch{Taint: &taint}
		}
	}
	return nil
}

// labels: "its node labels match the pod set's node selector and required node affinity, looking only at keys" that count.
func labels(own *queue.Flavor, c *workload.NodeConstraints, counts map[string]bool) *preemption.Mismatch {
	for _, key := range slices.Sorted(maps.Keys(c.NodeSelector)) { // an entry says what In with one value says
		r := workload.LabelRequirement{Key: key, Operator: workload.In, Values: []string{c.NodeSelector[key]}}
		if counts[key] && !r.Matches(own.NodeLabels) {
			return &preemption.Mismatch{Requirement: &r, Label: own.NodeLabels[key]}
		}
	}
	// "If a term becomes empty, it means node affinity matches any flavor since those terms
	// are ORed."
	var failed []workload.LabelRequirement
	for _, term := range c.NodeAffinity {
		ok := true
		for _, r := range term.MatchExpressions {
			if counts[r.Key] && !r.Matches(own.NodeLabels) {
				ok = false
				failed = append(failed, r)
			}
		}
		if ok {
			return nil
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return &preemption.Mismatch{Requirement: &failed[0], Label: own.NodeLabels[failed[0].Key]}
}

// topology: "a pod set that asks for a topology may only have flavors with a topology that has the
// level that it names; a pod set that does not ask may not have a flavor with a topology, unless all
// flavors of its queue have one." Nil: it fits.
func topology(flavors []queue.Flavor, q *queue.Queue, asked workload.TopologyRequest, own *queue.Flavor) *preemption.Mismatch {
	asks := !asked.IsZero()
	with := map[string]bool{} // the flavors that have a topology
	for _, f := range flavors {
		with[f.Name] = f.Topology.Name != ""
	}
	if asks && !with[own.Name] {
		return &preemption.Mismatch{Topology: preemption.NoTopology}
	}
	if asks {
		for _, level := range []string{asked.Required, asked.Preferred, asked.SliceRequired} {
			if level != "" && !slices.Contains(own.Topology.Levels, level) {
				return &preemption.Mismatch{Topology: preemption.NoTopologyLevel, Level: level}
			}
		}
		return nil
	}
	for _, e := range q.Quotas {
		if with[own.Name] && !with[e.Flavor] {
			return &preemption.Mismatch{Topology: preemption.OnlyTopology}
		}
	}
	return nil
}
