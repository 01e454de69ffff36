package queues

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Ineligible says why a pod set may not have a flavor of its queue; empty if it may. Nothing is known of
// a flavor that is not in the list.
func Ineligible(flavors []queue.Flavor, q *queue.Queue, flavor string, c *workload.NodeConstraints) string {
	known := map[string]queue.Flavor{}
	for _, f := range flavors {
		known[f.Name] = f
	}
	if c == nil {
		c = new(workload.NodeConstraints)
	}
	own := known[flavor]
	if why := offTopology(known, q, &own, &c.Topology); why != "" {
		return why
	}
	for _, t := range own.NodeTaints {
		tolerates := func(by workload.Toleration) bool { return by.Tolerates(&t) }
		if t.Effect != workload.PreferNoSchedule && !slices.ContainsFunc(own.Tolerations, tolerates) && !slices.ContainsFunc(c.Tolerations, tolerates) {
			return fmt.Sprintf("its taint %s is not tolerated", t.Key)
		}
	}
	counts := func(key string) bool { // a key counts if a flavor of the resource group has it
		for _, g := range q.ResourceGroups() {
			if slices.Contains(g.Flavors, flavor) {
				return slices.ContainsFunc(g.Flavors, func(name string) bool {
					_, has := known[name].NodeLabels[key]
					return has
				})
			}
		}
		return false
	}
	for key, value := range c.NodeSelector {
		if is, has := own.NodeLabels[key]; counts(key) && (!has || is != value) {
			return fmt.Sprintf("its label %s is %q, not %q", key, is, value)
		}
	}
	suits := func(term workload.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(term.MatchExpressions, func(r workload.LabelRequirement) bool {
			return counts(r.Key) && !r.Matches(own.NodeLabels)
		})
	}
	if len(c.NodeAffinity) > 0 && !slices.ContainsFunc(c.NodeAffinity, suits) {
		return "its labels satisfy no term of the node affinity"
	}
	return ""
}

func offTopology(known map[string]queue.Flavor, q *queue.Queue, own *queue.Flavor, asked *workload.TopologyRequest) string {
	places := own.Topology.Name != ""
	if !asked.IsZero() {
		for _, level := range []string{asked.Required, asked.Preferred, asked.SliceRequired} {
			if level != "" && !slices.Contains(own.Topology.Levels, level) {
				return fmt.Sprintf("its topology has no level %s", level)
			}
		}
		if !places {
			return "it has no topology"
		}
		return ""
	}
	for _, e := range q.Quotas {
		if places && known[e.Flavor].Topology.Name == "" {
			return fmt.Sprintf("it is for pods that ask for a topology, unlike flavor %s of the queue", e.Flavor)
		}
	}
	return ""
}
