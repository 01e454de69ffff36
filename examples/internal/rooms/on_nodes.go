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

// OnNodes gives workloads room on all nodes, for a scheduler that admits by them. Make it with [All].
type OnNodes struct {
	nodes placement.State
	all   *placement.Snapshot // nil: not made yet
	order map[string]int      // of its pods
}

// All returns the rooms on nodes. The group of a pod there is its workload, and the last pods of it leave first.
func All(nodes placement.State) *OnNodes { return &OnNodes{nodes: nodes} }

// Place gives the request of a workload its room: that of its pods.
func (n *OnNodes) Place(w *answers.Waiting) error {
	if w.Held != "" || w.Unasked != "" || len(w.Pods) == 0 {
		return nil
	}
	if n.all == nil {
		made, err := placement.NewSnapshot(n.nodes)
		if err != nil {
			return err
		}
		n.all, n.order = made, make(map[string]int, len(n.nodes.Pods))
		for i := range n.nodes.Pods {
			n.order[n.nodes.Pods[i].ID] = i
		}
	}
	pods := w.Pods
	domain := placement.Domain{Name: "all nodes"}
	for i := range n.nodes.Nodes {
		if on := &n.nodes.Nodes[i]; !on.Unschedulable {
			domain.Nodes = append(domain.Nodes, on.Name)
		}
	}
	fit, err := new(placement.Preemptor).Fit(n.all, placement.Request{
		Group: pods[0].Group, MinCount: len(pods), Pods: pods, Domains: []placement.Domain{domain}, Now: w.Request.Now, TerminationTimeout: releasing,
	})
	if err != nil {
		return err
	}
	fit.PodSets(func(workload.Pod) string { return "main" }, func(a, b workload.Pod) int { return cmp.Compare(n.order[b.ID], n.order[a.ID]) })
	w.Request.Room = fit
	return nil
}
