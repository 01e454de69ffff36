package nodes

import (
	"iter"

	"github.com/cedesched/cede/workload"
)

// Find returns a copy of a running pod.
func (c *Cluster) Find(id string) (workload.Pod, bool) {
	if p := c.pod(c.pods, id); p != nil {
		return p.Facts.Clone(), true
	}
	return workload.Pod{}, false
}

// Nominated returns a copy of a nominated pod.
func (c *Cluster) Nominated(id string) (workload.Pod, bool) {
	if p := c.pod(c.nominated, id); p != nil {
		return p.Facts.Clone(), true
	}
	return workload.Pod{}, false
}

// Node returns a copy of a node.
func (c *Cluster) Node(name string) (workload.Node, bool) {
	if at := c.nodeNumber(name); at >= 0 {
		return c.nodes.At(at).Facts.Clone(), true
	}
	return workload.Node{}, false
}

// Group returns a group of the state.
func (c *Cluster) Group(id string) (workload.PodGroup, bool) {
	if g := c.group(id); g != nil && g.known {
		return g.Facts, true
	}
	return workload.PodGroup{}, false
}

// Nodes iterates over copies of the nodes, by name.
func (c *Cluster) Nodes() iter.Seq[workload.Node] {
	return func(yield func(workload.Node) bool) {
		for _, number := range c.order {
			if !yield(c.nodes.At(int(number)).Facts.Clone()) {
				return
			}
		}
	}
}

// Pods iterates over copies of the running pods, by ID.
func (c *Cluster) Pods() iter.Seq[workload.Pod] {
	return func(yield func(workload.Pod) bool) {
		for _, p := range sorted(c.pods, (*Pod).id) {
			if !yield(p.Facts.Clone()) {
				return
			}
		}
	}
}

// PodsOn iterates over copies of the pods that run on a node, by ID.
func (c *Cluster) PodsOn(node string) iter.Seq[workload.Pod] {
	return func(yield func(workload.Pod) bool) {
		at := c.nodeNumber(node)
		if at < 0 {
			return
		}
		for _, p := range c.nodes.At(at).pods {
			if !yield(p.Facts.Clone()) {
				return
			}
		}
	}
}

// Terminating lists the IDs of the pods that terminate, by node and ID.
func (c *Cluster) Terminating() []string {
	var ids []string
	for _, number := range c.order {
		for _, p := range c.nodes.At(int(number)).pods {
			if p.Facts.Terminating {
				ids = append(ids, p.Facts.ID)
			}
		}
	}
	return ids
}

// NodeNames returns the names of the nodes, sorted.
func (c *Cluster) NodeNames() []string {
	names := make([]string, len(c.order))
	for i, number := range c.order {
		names[i] = c.NodeName(number)
	}
	return names
}

// NominatedPriorities returns the priorities of the nominated pods, in no particular order.
func (c *Cluster) NominatedPriorities() (list []int32) {
	for p := range c.nominated.All {
		list = append(list, p.priority)
	}
	return list
}
