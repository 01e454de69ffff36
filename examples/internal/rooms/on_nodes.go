package rooms

import (
	"cmp"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// releasing is how long KAI counts on the room of pods that end.
const releasing = 2 * time.Minute

// onNodes gives a workload of a scheduler that admits by nodes its room: that of its pods.
func (r *Rooms) onNodes(w *answers.Waiting) error {
	nodes := &r.cluster.Found.Nodes
	if w.Held != "" || w.Unasked != "" || len(w.Pods) == 0 {
		return nil
	}
	if r.all == nil {
		made, err := placement.NewSnapshot(*nodes)
		if err != nil {
			return err
		}
		r.all, r.order = made, make(map[string]int, len(nodes.Pods))
		for i := range nodes.Pods {
			r.order[nodes.Pods[i].ID] = i
		}
	}
	pods := w.Pods
	domain := placement.Domain{Name: "all nodes"}
	for i := range nodes.Nodes {
		if n := &nodes.Nodes[i]; !n.Unschedulable {
			domain.Nodes = append(domain.Nodes, n.Name)
		}
	}
	fit, err := new(placement.Preemptor).Fit(r.all, placement.Request{
		Group: pods[0].Group, MinCount: len(pods), Pods: pods, Domains: []placement.Domain{domain}, Now: r.cluster.Now, TerminationTimeout: releasing,
	})
	if err != nil {
		return err
	}
	fit.PodSets(func(workload.Pod) string { return "main" }, func(a, b workload.Pod) int { return cmp.Compare(r.order[b.ID], r.order[a.ID]) })
	w.Request.Room = fit
	return nil
}
