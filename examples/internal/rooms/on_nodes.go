package rooms

import (
	"cmp"
	"time"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// releasing is how long KAI counts on the room of pods that end.
const releasing = 2 * time.Minute

// OnNodes gives workloads room on all nodes, for a scheduler that admits by them. Make it with [All].
type OnNodes struct {
	// Order is that of the pods of a workload, by ID: the last leaves first.
	Order map[string]int

	nodes   placement.State
	shares  bool                // some pod takes a part of a GPU
	all     *placement.Snapshot // nil: not made yet
	domains []placement.Domain
}

// All returns the rooms on nodes. The group of a pod there is its workload. Their order is that of the pods.
func All(nodes placement.State) *OnNodes {
	n := &OnNodes{nodes: nodes, Order: make(map[string]int, len(nodes.Pods))}
	n.Devices(nodes.Pods)
	for i := range nodes.Pods {
		n.Order[nodes.Pods[i].ID] = i
	}
	return n
}

// Place gives the request of a workload its room: that of its pods.
func (n *OnNodes) Place(w *answers.Waiting) error {
	if w.Held != "" || w.Unasked != "" || len(w.Pods) == 0 {
		return nil
	}
	fit, err := n.Fit(w.Pods, w.Request.Now)
	if err == nil {
		w.Request.Room = fit
	}
	return err
}

// Change changes what runs on the nodes.
func (n *OnNodes) Change(edits ...placement.Edit) (err error) {
	if err = n.begin(); err == nil {
		n.all, err = n.all.With(edits...)
	}
	return err
}

// Devices is the rule of GPUs that pods share, from the first pod on that does. Where none does, sums say as much.
func (n *OnNodes) Devices(pods []workload.Pod) []placement.SetFilter {
	for i := range pods {
		n.shares = n.shares || kai.SharesGPU(&pods[i])
	}
	if !n.shares {
		return nil
	}
	return []placement.SetFilter{kai.Devices{}}
}

// Snapshot returns what is on the nodes.
func (n *OnNodes) Snapshot() (*placement.Snapshot, error) {
	if err := n.begin(); err != nil {
		return nil, err
	}
	return n.all, nil
}

func (n *OnNodes) begin() (err error) {
	if n.all != nil {
		return nil
	}
	all := placement.Domain{Name: "all nodes"}
	for i := range n.nodes.Nodes {
		if on := &n.nodes.Nodes[i]; !on.Unschedulable {
			all.Nodes = append(all.Nodes, on.Name)
		}
	}
	n.domains = []placement.Domain{all}
	n.all, err = placement.NewSnapshot(n.nodes)
	return err
}

// Fit returns the room of pods together. They are of one group, and there is at least one.
func (n *OnNodes) Fit(pods []workload.Pod, now time.Time) (*placement.Fit, error) {
	if err := n.begin(); err != nil {
		return nil, err
	}
	fit, err := new(placement.Preemptor).Fit(n.all, placement.Request{
		Group: pods[0].Group, MinCount: len(pods), Pods: pods, Domains: n.domains, Now: now, TerminationTimeout: releasing, SetFilters: n.Devices(pods),
	})
	if err != nil {
		return nil, err
	}
	fit.PodSets(func(workload.Pod) string { return PodSet }, func(a, b workload.Pod) int { return cmp.Compare(n.Order[b.ID], n.Order[a.ID]) })
	return fit, nil
}

// PodSet is the name of the one pod set of a workload on nodes.
const PodSet = "main"
