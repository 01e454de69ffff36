package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// behind says where nodes do not have as much as all quotas together, once one is raised as a change says. Empty: they have, or it is not known.
func (a *answer) behind(w *explain.Way) string {
	if w.Kind != explain.WayNominal {
		return ""
	}
	nodes := a.cluster.nodes.All()
	var parts []string
	for _, m := range w.Nominal {
		of := m.FlavorResource()
		has, known := hardware(nodes, a.State.Flavors, of)
		if total := quota.Add(m.Amount, a.nominal(of)); known && has < total {
			parts = append(parts, fmt.Sprintf("the nodes of %s have %s %s, and all quotas together would be %s", of.Flavor, units.Amount(of.Resource, has), of.Resource, units.Amount(of.Resource, total)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, "; ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// nominal is the nominal quota of all queues and cohorts together.
func (a *answer) nominal(of quota.FlavorResource) (total int64) {
	add := func(list []quota.Quota) {
		for _, e := range list {
			if e.FlavorResource() == of {
				total = quota.Add(total, e.Nominal)
			}
		}
	}
	for i := range a.State.Queues {
		add(a.State.Queues[i].Quotas)
	}
	for i := range a.State.Cohorts {
		add(a.State.Cohorts[i].Quotas)
	}
	return total
}

// hardware is what the nodes of a flavor have of a resource. It is not known where the input has no node of the flavor, and where no node
// has any of the resource: then something else counts it.
func hardware(nodes []workload.Node, flavors []queue.Flavor, of quota.FlavorResource) (has int64, known bool) {
	at := slices.IndexFunc(flavors, func(f queue.Flavor) bool { return f.Name == of.Flavor })
	if at < 0 {
		return 0, false
	}
	counted := false
	for i := range nodes {
		amount := nodes[i].Capacity[of.Resource]
		counted = counted || amount > 0
		if answers.HasLabels(nodes[i].Labels, flavors[at].NodeLabels) {
			has, known = quota.Add(has, amount), true
		}
	}
	return has, known && counted
}
