package kubernetes

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/workload"
)

// addGroup adds a group. A field that cannot be read gets the value that disturbs the group
// least.
func (c *context) addGroup(id string, g *PodGroup) {
	gang := g.Spec.SchedulingPolicy.Gang
	group := workload.PodGroup{ID: id, Basic: gang == nil}
	if gang != nil {
		group.MinCount = max(0, gang.MinCount)
	}
	var err error
	if group.Priority, _, err = c.priority(g.Spec.Priority, g.Spec.PriorityClassName, g.Spec.PreemptionPolicy); err != nil {
		c.warn("PodGroup "+id, "spec.priorityClassName", "%v: it is never preempted here", err)
		c.doubtGroup(id, fmt.Sprintf("the priority of PodGroup %s is not known: %v", id, err))
		group.Priority = math.MaxInt32
	}
	mode, path, err := g.mode()
	if group.DisruptionMode = mode; err != nil {
		c.warn("PodGroup "+id, path, "%v: it is not split here", err)
		c.doubtGroup(id, fmt.Sprintf("the disruption mode of PodGroup %s is not known: %v", id, err))
	}
	if _, ok := c.unread["PodGroup "+id]; ok {
		group = workload.PodGroup{ID: id, Priority: math.MaxInt32, DisruptionMode: workload.DisruptionModePodGroup}
	}
	c.out.State.Groups = append(c.out.State.Groups, group)
}

// addMissingGroups adds the groups of running pods that are not in the input. Nothing is known of
// them, so their pods are not disturbed. It also says which pods have a reference that is not followed.
func (c *context) addMissingGroups() {
	missing := map[string]bool{}
	first, refs := "", 0
	for _, p := range c.pods {
		if p.Spec.NodeName == "" || p.isDone() || !c.known[p.Spec.NodeName] {
			continue
		}
		if id := p.group(); id != "" && c.groups[id] == nil {
			missing[id] = true
		}
		if p.Spec.WorkloadRef != nil {
			if refs++; refs == 1 {
				first = p.Metadata.ID()
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		c.warn("PodGroup "+id, "", "is not in the input, and pods of it run: it is never preempted here")
		c.doubtGroup(id, "PodGroup "+id+" is not in the input, and pods of it run")
		c.out.State.Groups = append(c.out.State.Groups, workload.PodGroup{ID: id, Priority: math.MaxInt32, DisruptionMode: workload.DisruptionModePodGroup})
	}
	switch {
	case refs == 1:
		c.warn("Pod "+first, "spec.workloadRef", "spec.workloadRef is not looked at: it counts as a pod of no group")
	case refs > 1:
		c.warn(fmt.Sprintf("Pod %s and %d more", first, refs-1), "spec.workloadRef", "spec.workloadRef is not looked at: each counts as a pod of no group")
	}
}

// doubtGroup doubts each node on which a pod of the group runs.
func (c *context) doubtGroup(id, text string) {
	nodes := map[string]bool{}
	for _, p := range c.pods {
		if p.group() == id && p.Spec.NodeName != "" && !p.isDone() {
			nodes[p.Spec.NodeName] = true
		}
	}
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		c.doubt(bridge.Doubt{Node: node}, "PodGroup "+id, "%s", text)
	}
}

func (p *Pod) group() string {
	if p.Spec.SchedulingGroup.PodGroupName == "" {
		return ""
	}
	return p.Metadata.Namespace + "/" + p.Spec.SchedulingGroup.PodGroupName
}
