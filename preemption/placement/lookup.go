package placement

import (
	"iter"

	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Find returns a copy of a running pod; ok is false if there is none with that ID.
func (s *Snapshot) Find(id string) (p workload.Pod, ok bool) {
	return clonePod(s.inside().Pod(id))
}

// Nominated returns a copy of a waiting pod that is nominated; ok is false if there is none with that ID.
func (s *Snapshot) Nominated(id string) (p workload.Pod, ok bool) {
	return clonePod(s.inside().PromisedPod(id))
}

// NominatedPods iterates over copies of the waiting pods that are nominated, by ID.
func (s *Snapshot) NominatedPods() iter.Seq[workload.Pod] { return s.inside().NominatedPods() }

func clonePod(p *state.Pod) (workload.Pod, bool) {
	if p == nil {
		return workload.Pod{}, false
	}
	return p.Facts.Clone(), true
}

// Node returns a copy of a node; ok is false for an unknown name.
func (s *Snapshot) Node(name string) (n workload.Node, ok bool) {
	c := s.inside()
	number := c.NodeNumber(name)
	if number < 0 {
		return workload.Node{}, false
	}
	return c.Node(number).Facts.Clone(), true
}

// Group returns a copy of a pod group; ok is false for an unknown ID.
func (s *Snapshot) Group(id string) (g workload.PodGroup, ok bool) {
	if g := s.inside().KnownGroup(id); g != nil {
		return g.Facts, true
	}
	return workload.PodGroup{}, false
}

// Budgets iterates over copies of the disruption budgets, by namespace and name.
func (s *Snapshot) Budgets() iter.Seq[workload.DisruptionBudget] {
	return func(yield func(workload.DisruptionBudget) bool) {
		c := s.inside()
		for _, slot := range c.BudgetOrder {
			if !yield(c.Budgets[slot].Facts.Clone()) {
				return
			}
		}
	}
}

// Nodes iterates over copies of the nodes, by name. Each is copied when its turn comes.
func (s *Snapshot) Nodes() iter.Seq[workload.Node] { return s.inside().Nodes() }

// Pods iterates over copies of the running pods, by ID. Each is copied when its turn comes: a loop that breaks copies
// no more. Sorting takes a pointer a pod.
func (s *Snapshot) Pods() iter.Seq[workload.Pod] { return s.inside().Pods() }

// PodsOn iterates over copies of the pods that run on a node, by ID. An unknown node has none. It costs O(pods on the
// node).
func (s *Snapshot) PodsOn(node string) iter.Seq[workload.Pod] { return s.inside().PodsOn(node) }

// UsedOn returns what the pods that run on a node take, a claim once, and their number as [workload.PodsResource]. Only if pods hold
// claims it looks at the pods.
func (s *Snapshot) UsedOn(node string) workload.Resources {
	c, used := s.inside(), workload.Resources{}
	number := c.NodeNumber(node)
	if number < 0 {
		return used
	}
	n := c.Node(number)
	for column, amount := range n.InUse() {
		if amount > 0 {
			used[c.Columns.Names[column]] = amount
		}
	}
	if !n.Claims {
		return used
	}
	seen := map[string]bool{}
	for _, p := range n.Pods {
		for _, id := range p.Facts.Claims {
			if seen[id] {
				continue
			}
			seen[id] = true
			for resource, amount := range c.Claim(id).Facts.Requests {
				used[resource] = quota.Add(used[resource], amount)
			}
		}
	}
	return used
}

// FreeOn returns what is free on a node, by resource: its capacity without [Snapshot.UsedOn]. It is negative where more is used, and has no
// [workload.PodsResource] if the node does not limit its pods. Nominations do not count. It is empty for an unknown node.
func (s *Snapshot) FreeOn(node string) workload.Resources {
	free, c := s.UsedOn(node), s.inside()
	number := c.NodeNumber(node)
	if number < 0 {
		return free
	}
	capacity := c.Node(number).Facts.Capacity
	for name, amount := range free {
		free[name] = -amount
	}
	for name, amount := range capacity {
		free[name] = quota.Add(free[name], amount)
	}
	if _, limited := capacity[workload.PodsResource]; !limited {
		delete(free, workload.PodsResource)
	}
	return free
}

// Terminating returns the IDs of the running pods that terminate, by node and ID. It looks at every pod and copies
// none.
func (s *Snapshot) Terminating() []string { return s.inside().Terminating() }
