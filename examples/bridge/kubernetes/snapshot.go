package kubernetes

import (
	"errors"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/internal/prune"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Snapshot makes a snapshot of the state. It leaves out each item that the library finds faulty,
// and what depends on such an item, with notes; what was left out is in doubt.
func (c *Cluster) Snapshot() (*placement.Snapshot, error) {
	st := &c.State
	pod := func(p *workload.Pod) string { return "Pod " + p.ID }
	parts := map[string]prune.Part{
		"nodes":     prune.Of(&st.Nodes, func(n *workload.Node) string { return "Node " + n.Name }),
		"pods":      prune.Of(&st.Pods, pod),
		"nominated": prune.Of(&st.Nominated, pod),
		"claims":    prune.Of(&st.Claims, func(k *workload.Claim) string { return "ResourceClaim " + k.ID }),
		"groups": prune.Of(&st.Groups, func(g *workload.PodGroup) string {
			if name, composite := strings.CutPrefix(g.ID, "composite/"); composite {
				return "CompositePodGroup " + name
			}
			return "PodGroup " + g.ID
		}),
		"budgets": prune.Of(&st.Budgets, func(b *workload.DisruptionBudget) string {
			return "PodDisruptionBudget " + b.Namespace + "/" + b.Name
		}),
	}
	for {
		snapshot, err := placement.NewSnapshot(c.State)
		var faults preemption.Faults
		if !errors.As(err, &faults) {
			return snapshot, err
		}
		notes, ok := prune.Out(faults, parts)
		if !ok {
			return nil, err
		}
		c.Notes = append(c.Notes, notes...)
		for _, n := range notes {
			c.Doubts = append(c.Doubts, bridge.Doubt{Note: n})
		}
	}
}
