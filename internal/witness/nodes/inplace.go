package nodes

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// Package placement, ModeInPlace: as built in Kubernetes v1.37.

// waitsInPlace: "a preemptor waits only while victims of lower priority terminate on a node that it is nominated to". It keeps
// its nominations. A nomination "that cannot be met is dropped": of a single pod, as built, one to a node where it may not run.
func (w *world) waitsInPlace() (d placement.Decision, waits bool) {
	d.Outcome = preemption.Wait
	for _, p := range w.pods {
		if p.promised == nil || w.single() && !slices.Contains(p.nodes, p.promised) {
			continue
		}
		d.Nominations = append(d.Nominations, placement.Nomination{Pod: p.ID, Node: p.promised.Name})
		for _, q := range w.running {
			victim := q.Terminating && q.Preempted && !w.timedOut(q)
			waits = waits || victim && q.Node == p.promised.Name && q.priority < w.request.Priority
		}
	}
	d.Placeable = len(d.Nominations)
	return d, waits && w.config.Mode == placement.ModeInPlace
}
