package kubernetes

import (
	"errors"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/preemption/placement"
)

// Snapshot makes a snapshot of the state. A member that the library finds faulty is taken
// out, with a warning, and so is what cannot be without it.
func (c *Cluster) Snapshot() (*placement.Snapshot, error) {
	st := &c.State
	pod := func(p *placement.Pod) string { return "Pod " + p.ID }
	parts := map[string]input.Part{
		"nodes":     input.PartOf(&st.Nodes, func(n *placement.Node) string { return "Node " + n.Name }),
		"pods":      input.PartOf(&st.Pods, pod),
		"nominated": input.PartOf(&st.Nominated, pod),
		"groups":    input.PartOf(&st.Groups, func(g *placement.Group) string { return "PodGroup " + g.ID }),
		"budgets": input.PartOf(&st.Budgets, func(b *placement.Budget) string {
			return "PodDisruptionBudget " + b.Namespace + "/" + b.Name
		}),
	}
	for {
		snapshot, err := placement.NewSnapshot(c.State)
		var faults fault.List
		if !errors.As(err, &faults) {
			return snapshot, err
		}
		notes, ok := input.Prune(faults, parts)
		if !ok {
			return nil, err
		}
		c.Warnings = append(c.Warnings, notes...)
	}
}
