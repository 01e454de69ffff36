package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// amounts returns the amounts of a resource list, in the units of package placement.
func amounts(list bridge.ResourceList) workload.Resources {
	out := workload.Resources{}
	for name, q := range list {
		out[name] = clamp(q.Amount(name))
	}
	return out
}

// clamp limits an amount to the most that a snapshot can count: more decides the same.
func clamp(amount int64) int64 { return min(amount, quota.MaxUsage/1024) }

// requests returns what a pod takes.
func requests(p *Pod) workload.Resources {
	out := workload.Resources{}
	for _, r := range p.Spec.Requests(&p.Status.PodStatus) {
		if r.Resource != workload.PodsResource {
			out[r.Resource] = clamp(r.Amount)
		}
	}
	return out
}

// addBudget adds a budget, unless its selector cannot be read.
func (c *context) addBudget(b *PodDisruptionBudget) {
	switch err := bridge.ValidateSelector("spec.selector", b.Spec.Selector); {
	case err != nil && c.unread[b.key()].why != nil:
		return // its note and its doubt are there
	case err != nil:
		c.warn("PodDisruptionBudget "+b.Metadata.ID(), "spec.selector", "%v: left out", err)
		c.doubt(bridge.Doubt{}, "PodDisruptionBudget "+b.Metadata.ID(), "PodDisruptionBudget %s cannot be read: %v", b.Metadata.ID(), err)
		return
	}
	budget := workload.DisruptionBudget{
		Namespace: b.Metadata.Namespace, Name: b.Metadata.Name, Selector: b.Spec.Selector.Clone(), Allowed: b.Status.DisruptionsAllowed,
	}
	for _, name := range slices.Sorted(maps.Keys(b.Status.DisruptedPods)) {
		budget.Disrupted = append(budget.Disrupted, b.Metadata.Namespace+"/"+name)
	}
	c.out.State.Budgets = append(c.out.State.Budgets, budget)
}

// errClass returns the error for a priority class that is not in the input.
type errClass string

func (e errClass) Error() string {
	return fmt.Sprintf("PriorityClass %q is not in the input", string(e))
}

// priority returns the priority and the preemption policy of an object that names a class. The
// priority is its own value, else that of the class, else that of the default class, else zero.
func (c *context) priority(own *int32, name string, policy string) (int32, placement.PreemptionPolicy, error) {
	class, known := c.classes[name]
	switch {
	case name == "" && own == nil && c.byDefault != nil:
		class = c.byDefault
	case !known && own == nil && name != "":
		builtIn := map[string]int32{"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
		value, ok := builtIn[name]
		if !ok {
			return 0, 0, errClass(name)
		}
		class = &PriorityClass{Value: value}
	}
	if class == nil {
		class = new(PriorityClass)
	}
	value := class.Value
	if own != nil {
		value = *own
	}
	if cmp.Or(policy, class.PreemptionPolicy) == "Never" {
		return value, placement.PreemptNever, nil
	}
	return value, placement.PreemptLowerPriority, nil
}

// mode returns the disruption mode of a group, from the first field that has one: its own, or
// that of the policy, as KEP-5710 has it.
func (g *PodGroup) mode() (mode workload.DisruptionMode, path string, err error) {
	policy := &g.Spec.SchedulingPolicy
	type place struct {
		path string
		mode DisruptionMode
	}
	places := []place{{"spec.disruptionMode", g.Spec.DisruptionMode}, {"spec.schedulingPolicy.disruptionMode", policy.DisruptionMode}}
	if policy.Gang != nil {
		places = append(places, place{"spec.schedulingPolicy.gang.disruptionMode", policy.Gang.DisruptionMode})
	}
	for _, p := range places {
		if p.mode != "" {
			mode, err = p.mode.of(p.path)
			return mode, p.path, err
		}
	}
	return workload.DisruptionModePod, "", nil
}

// of returns the disruption mode that a field has.
func (m DisruptionMode) of(path string) (workload.DisruptionMode, error) {
	switch m {
	case "", DisruptionModePod:
		return workload.DisruptionModePod, nil
	case DisruptionModePodGroup:
		return workload.DisruptionModePodGroup, nil
	}
	return workload.DisruptionModePodGroup, fmt.Errorf("%s: %.40q is unknown", path, string(m))
}
