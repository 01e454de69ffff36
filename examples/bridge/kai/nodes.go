package kai

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

const (
	poolLabel  = "kai.scheduler/node-pool"
	countLabel = "nvidia.com/gpu.count"
	appLabel   = "app"
	scheduler  = "kai-scheduler"
)

// gpus are the resources of GPUs that KAI counts as one.
var gpus = []string{"nvidia.com/gpu", "amd.com/gpu"}

// helpers are the values of the label app of pods that stand for others: they are no foreign load.
var helpers = []string{"kai-resource-reservation", "scaling-pod"}

// resourceOf is the name in the state of a resource of Kubernetes, or of a Queue.
func resourceOf(name string) string {
	if slices.Contains(gpus, name) || strings.EqualFold(name, GPU) {
		return GPU
	}
	return name
}

// amounts lists the amounts over zero, by resource as in the state.
func amounts(list bridge.ResourceList) (out []quota.Amount) {
	sum := totals{}
	for name, q := range list {
		if n := q.Amount(resourceOf(name)); n > 0 {
			sum[resourceOf(name)] = min(quota.Add(sum[resourceOf(name)], n), quota.MaxUsage)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		out = append(out, quota.Amount{Resource: name, Amount: sum[name]})
	}
	return out
}

// ofQueues are the amounts of which queues have quota, and the names of the others.
func ofQueues(list []quota.Amount) (out []quota.Amount, others []string) {
	for _, a := range list {
		if a.Resource == "cpu" || a.Resource == "memory" || a.Resource == GPU {
			a.Flavor = Flavor
			out = append(out, a)
		} else {
			others = append(others, a.Resource)
		}
	}
	return out, others
}

// requestsOf is what a pod counts in its queue: KAI does not read requests of the pod as a whole, nor GPUs of one that shares one.
func requestsOf(p *Pod) []quota.Amount {
	spec := p.Spec
	spec.Resources = nil
	list := bridge.ResourceList{}
	for _, a := range spec.Requests(nil) {
		list[a.Resource] = bridge.QuantityOf(a.Resource, a.Amount)
	}
	if p.part != nil {
		return withGPU(amounts(list), p.part.counts)
	}
	return amounts(list)
}

// podOf is a pod in the state, with what it takes of a node; takes is what counts in its queue.
func podOf(p *Pod, group string, takes []quota.Amount) workload.Pod {
	out := workload.Pod{ID: p.Metadata.ID(), UID: p.Metadata.UID, Group: group}
	switch {
	case p.part != nil:
		out.Requests, out.Labels = resourcesOf(withGPU(takes, p.part.least)), p.part.labels
	case p.Metadata.Labels[appLabel] == helpers[0]: // the pods that share its GPU count
		out.Requests = resourcesOf(withGPU(takes, 0))
	default:
		out.Requests = resourcesOf(takes)
	}
	return out
}

func resourcesOf(list []quota.Amount) workload.Resources {
	out := workload.Resources{}
	for _, a := range list {
		if a.Resource != workload.PodsResource {
			out[a.Resource] = a.Amount
		}
	}
	return out
}

// isForeign reports whether a pod is of another scheduler.
func (p *Pod) isForeign() bool {
	return p.Spec.SchedulerName != scheduler && (p.Spec.SchedulerName != "" || p.group() == "")
}

// ready reports whether a node takes pods, and counts for the total.
func (n *Node) ready() bool {
	return !n.Spec.Unschedulable && !slices.ContainsFunc(n.Status.Conditions, func(c bridge.PodCondition) bool {
		switch c.Type {
		case "Ready":
			return c.Status != "True"
		case "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable":
			return c.Status != "False"
		}
		return false
	})
}

// nodes are those that KAI sees, and what runs there.
type nodes struct {
	list   []*Node // without those of a node pool
	byName map[string]*Node
	inPool map[string]bool
	state  placement.State
	// total is what there is to divide, beside what is held on nodes that do not count for it.
	total, beside totals
	suitable      map[string][]string // nodes where pods may run, by what their specs say of that
}

// readNodes reads nodes, and the pods on them. What is not known of them is a doubt.
func (o *Objects) readNodes(g *groups) *nodes {
	n := &nodes{byName: map[string]*Node{}, inPool: map[string]bool{}, total: totals{}, beside: totals{}, suitable: map[string][]string{}}
	for _, one := range o.nodes.All() {
		if one.Metadata.Labels[poolLabel] != "" {
			n.inPool[one.Metadata.Name] = true
			continue
		}
		n.list, n.byName[one.Metadata.Name] = append(n.list, one), one
		has := amounts(one.Status.Allocatable)
		if one.ready() {
			n.total.add(has)
		}
		n.state.Nodes = append(n.state.Nodes, workload.Node{Name: one.Metadata.Name, Capacity: capacityOf(has), Labels: one.Metadata.Labels, Unschedulable: !one.ready()})
		object := "Node " + one.Metadata.Name
		count, labelled := one.Metadata.Labels[countLabel]
		if has := one.Status.Allocatable[gpus[0]].Amount(gpus[0]); labelled && count != strconv.FormatInt(has, 10) {
			g.doubtAll(object, "metadata.labels["+countLabel+"]", "its label says %s GPUs, and %d are allocatable", count, has)
		}
		for name := range one.Status.Allocatable {
			if isSlice(name) {
				g.doubtAll(object, "status.allocatable", "it has slices of GPUs (%s), which are not modelled", name)
			}
		}
	}
	if len(o.nodes.All()) == 0 {
		d := note("Node", "status.allocatable", "there are no nodes in the input: KAI divides what nodes have, and admits where they have room")
		g.c.Notes, g.c.Doubts = append(g.c.Notes, d), append(g.c.Doubts, bridge.Doubt{Note: d, OnlyYes: true})
		n.total = totals{"cpu": quota.MaxUsage, "memory": quota.MaxUsage, GPU: quota.MaxUsage}
	}
	for _, p := range slices.SortedStableFunc(slices.Values(g.pods), comparePods) {
		if p.Holds() && !p.ended() {
			n.addPod(p, g)
		}
	}
	return n
}

// isSlice reports whether a resource is a slice of a GPU.
func isSlice(name string) bool { return strings.HasPrefix(name, "nvidia.com/mig-") }

func capacityOf(has []quota.Amount) workload.Resources {
	out := workload.Resources{}
	for _, a := range has {
		out[a.Resource] = a.Amount
	}
	return out
}

// addPod adds a pod that has a node.
func (n *nodes) addPod(p *Pod, g *groups) {
	takes, object := requestsOf(p), "Pod "+p.Metadata.ID()
	on := n.byName[p.Spec.NodeName]
	if on == nil {
		switch {
		case len(n.list) == 0:
		case n.inPool[p.Spec.NodeName]:
			n.hold(p, takes)
		case !p.isForeign():
			d := note("Node "+p.Spec.NodeName, "", "Node %s is not in the input, and %s runs there", p.Spec.NodeName, object)
			g.c.Notes, g.c.Doubts = append(g.c.Notes, d), append(g.c.Doubts, bridge.Doubt{Note: d, NotInInput: true})
		}
		return
	}
	switch {
	case !p.isForeign() && !on.ready():
		n.hold(p, takes)
	case p.isForeign() && on.ready() && !slices.Contains(helpers, p.Metadata.Labels[appLabel]):
		for _, a := range takes {
			n.total[a.Resource] = quota.Sub(n.total[a.Resource], a.Amount)
		}
	}
	pod := podOf(p, p.group(), takes)
	pod.Node = on.Metadata.Name
	if p.ending() {
		pod.Group, pod.Terminating, pod.TerminatingSince = "", true, *p.Metadata.DeletionTimestamp
	}
	n.state.Pods = append(n.state.Pods, pod)
}

// hold counts what a pod holds on a node that does not count for the total.
func (n *nodes) hold(p *Pod, takes []quota.Amount) {
	if !p.ending() && p.group() != "" {
		n.beside.add(takes)
	}
}

// pod is a waiting pod of a group with the nodes where it may run.
func (n *nodes) pod(p *Pod, group string) (workload.Pod, error) {
	out := podOf(p, group, requestsOf(p))
	key, err := json.Marshal([]any{p.Spec.NodeSelector, p.Spec.Affinity, p.Spec.Tolerations})
	if err != nil {
		return out, err
	}
	names, known := n.suitable[string(key)]
	if !known {
		if names, err = n.suit(p); err != nil {
			return out, err
		}
		n.suitable[string(key)] = names
	}
	switch len(names) {
	case 0:
		out.Nowhere = true
	case len(n.list):
	default:
		out.Nodes = names
	}
	return out, nil
}

// suit lists the nodes where a pod may run, whatever runs there.
func (n *nodes) suit(p *Pod) (names []string, err error) {
	for _, one := range n.list {
		suits, err := p.Spec.SuitsNode(one.Metadata.Name, one.Metadata.Labels)
		if err != nil {
			return nil, err
		}
		if suits && !slices.ContainsFunc(one.Spec.Taints, func(t bridge.Taint) bool {
			return t.Effect != "PreferNoSchedule" && !bridge.Tolerates(p.Spec.Tolerations, t)
		}) {
			names = append(names, one.Metadata.Name)
		}
	}
	return names, nil
}
