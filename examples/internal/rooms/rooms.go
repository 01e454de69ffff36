// Package rooms asks for room on nodes beside quota, for workloads that Kueue places by a topology
// (KEP-2724), and for those of KAI, which admits by nodes. Where it is not certain that Kueue places pods so, the answer stays unknown, with the reason.
//
// A pod set of equal pods has room at a required level if the nodes of one domain have room for all of
// them, each node for as many as fit there; for a preferred level, and without a level, if all nodes
// together have: Kueue tries the higher levels, then several domains. Victims free the room that their
// topologyAssignment says.
package rooms

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/topology"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Rooms gives workloads their rooms in one cluster. Make it with [New].
type Rooms struct {
	cluster *answers.Cluster
	nodes   *Nodes
	flavors map[string]*flavored

	all *OnNodes // of a scheduler that admits by nodes
}

// New returns the rooms of a cluster on nodes.
func New(c *answers.Cluster, nodes *Nodes) *Rooms {
	return &Rooms{cluster: c, nodes: nodes, flavors: map[string]*flavored{}, all: All(c.Found.Nodes)}
}

// Place gives the request of a workload its room, in place of the doubts about room; or it says in them
// why it cannot.
func (r *Rooms) Place(w *answers.Waiting) error {
	if r.cluster.ByFairShares() {
		return r.all.Place(w)
	}
	if len(w.Room) == 0 || w.Held != "" || w.Unasked != "" {
		return nil
	}
	request, why, err := r.request(w)
	switch {
	case err != nil:
		return err
	case why != "":
		w.NotPlaced(why)
	case request != nil:
		w.Placed(*request)
	}
	return nil
}

// request returns the request with a room, or why there is none; neither: quota alone refuses it.
func (r *Rooms) request(w *answers.Waiting) (request *preemption.Request, why string, err error) {
	ask := w.Request
	ask.MinCounts = nil
	switch n := len(ask.Workload.PodSets); {
	case len(r.nodes.list) == 0:
		return nil, "no Node is in the input", nil
	case w.NoRoom != "":
		return nil, w.NoRoom, nil
	case n != 1:
		return nil, fmt.Sprintf("it has %d pod sets, which Kueue places one after the other", n), nil
	case ask.Replaces != "":
		return nil, "it replaces a workload that runs", nil
	}
	for _, note := range r.cluster.Found.QueueNotes[ask.Workload.Queue] {
		if strings.HasPrefix(note.Path, "spec.admissionChecks") {
			return nil, "with admission checks Kueue may place it later", nil
		}
	}
	byQuota, err := r.cluster.Preemptor.Decide(r.cluster.Snapshot, ask)
	if err != nil {
		return nil, "", err
	}
	if byQuota.Outcome == preemption.Impossible {
		if len(w.Request.MinCounts) > 0 {
			return nil, "with fewer replicas it is not looked at", nil
		}
		return nil, "", nil
	}
	fit, on, why := r.fit(ask.Workload.ID, byQuota.Assignment.Pin(ask.Workload))
	if why != "" {
		return nil, why, nil
	}
	ask.Room = fit
	if byQuota.Outcome != preemption.Fits { // as in Kueue, those that use what quota lacks yield
		ask.NeedsPreemption = r.short(&byQuota, &ask.Workload)
		ask.Workload = byQuota.Assignment.Pin(ask.Workload)
	}
	d, err := r.cluster.Preemptor.Decide(r.cluster.Snapshot, ask)
	switch {
	case err != nil:
		return nil, "", err
	case d.Outcome.Possible() && r.nodes.pods == 0:
		return nil, "no Pod is in the input, and pods that Kueue does not place take room too", nil
	case !d.Outcome.Possible() && r.otherFlavor(&ask.Workload, on):
		return nil, fmt.Sprintf("there is no room in flavor %s, and Kueue may try another one", on), nil
	case !d.Outcome.Possible() && len(w.Request.MinCounts) > 0:
		return nil, "with fewer replicas it is not looked at", nil
	}
	return &ask, "", nil
}

// short lists what quota lacks.
func (r *Rooms) short(d *preemption.Decision, w *workload.Workload) (list []quota.FlavorResource) {
	for _, choice := range d.Assignment {
		for _, resource := range choice.Resources {
			if resource.Mode != preemption.ModeFit {
				list = append(list, quota.FlavorResource{Flavor: choice.Flavor, Resource: resource.Resource})
			}
		}
	}
	if len(d.Assignment) > 0 {
		return list
	}
	for _, u := range w.Usage() { // its flavors were given
		rows, _ := r.cluster.Snapshot.QueueStatus(w.Queue, u.FlavorResource())
		for _, row := range rows {
			if row.FlavorResource == u.FlavorResource() && u.Amount > row.Available {
				list = append(list, u.FlavorResource())
			}
		}
	}
	return list
}

// otherFlavor reports whether the queue has quota in another flavor with a topology.
func (r *Rooms) otherFlavor(w *workload.Workload, than string) bool {
	for i := range r.cluster.State.Queues {
		q := &r.cluster.State.Queues[i]
		if q.Name == w.Queue && slices.ContainsFunc(q.Quotas, func(e quota.Quota) bool {
			return e.Flavor != than && r.cluster.Found.Topologies[e.Flavor] != ""
		}) {
			return true
		}
	}
	return false
}

// fit returns the room of a workload of one pod set with its flavors, and the flavor.
func (r *Rooms) fit(id string, w workload.Workload) (fit *placement.Fit, flavor, why string) {
	s := &w.PodSets[0]
	requests := workload.Resources{}
	for _, a := range s.Requests {
		switch {
		case flavor != "" && a.Flavor != flavor:
			return nil, "", fmt.Sprintf("it is assigned flavors %s and %s", flavor, a.Flavor)
		case a.Amount <= 0:
			return nil, "", fmt.Sprintf("a pod asks for 0 %s", a.Resource)
		}
		if flavor = a.Flavor; a.Resource != workload.PodsResource { // of which each pod takes one anyway
			requests[a.Resource] = a.Amount
		}
	}
	if s.Totals || flavor == "" || s.Count < 1 || s.Count > maxPods {
		return nil, "", "what a pod takes is not known"
	}
	on := r.flavors[flavor]
	if on == nil {
		on = r.nodes.flavored(r.cluster, flavor)
		r.flavors[flavor] = on
	}
	if on.why != "" {
		return nil, flavor, on.why
	}
	for _, n := range on.nodes {
		capacity := n.capacity()
		if _, has := capacity[workload.PodsResource]; !has {
			return nil, flavor, fmt.Sprintf("Node %s does not say how many pods it takes", n.name)
		}
		for name, used := range on.used[n.name] {
			if _, asked := requests[name]; (asked || name == workload.PodsResource) && used > capacity[name] {
				return nil, flavor, fmt.Sprintf("pods on Node %s take more %s than it has", n.name, name)
			}
		}
	}
	domains, err := on.domains(s.NodeConstraints)
	if err != nil {
		return nil, flavor, err.Error()
	}
	ask := placement.Request{Group: id, MinCount: int(s.Count), Domains: domains}
	nodes := []string{}
	for _, n := range on.nodes {
		if n.takes(s.NodeConstraints, on.flavor.Tolerations) {
			nodes = append(nodes, n.name)
		}
	}
	for i := range s.Count {
		ask.Pods = append(ask.Pods, workload.Pod{ID: fmt.Sprintf("%s %d", id, i), Requests: requests, Nodes: nodes, Nowhere: len(nodes) == 0})
	}
	fit, err = new(placement.Preemptor).Fit(on.snapshot, ask)
	if err != nil {
		return nil, flavor, err.Error()
	}
	return fit, flavor, ""
}

// domains are the places for all pods: the domains of the required level, or all nodes.
func (f *flavored) domains(c *workload.NodeConstraints) ([]placement.Domain, error) {
	if c != nil && c.Topology.Required != "" {
		return (&topology.Cluster{Machines: f.machines, Levels: f.flavor.Topology.Levels}).Domains(c.Topology.Required)
	}
	all := placement.Domain{Name: f.flavor.Topology.Name}
	for _, n := range f.nodes {
		all.Nodes = append(all.Nodes, n.name)
	}
	return []placement.Domain{all}, nil
}
