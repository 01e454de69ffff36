package main

import (
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// measures say how fragmented nodes are, by what others report: whole free nodes and racks, the most that is free on one node and how
// often one rack has that, and what is free that no waiting pod can use.
type measures struct {
	Nodes, Racks int   // without pods, but for those that belong to their nodes
	Largest      int64 // free on one node
	Gang         int64 // how often one rack has as much on a node
	Free         int64
	// Unusable is, of Free, what a waiting pod cannot use, times their number: fragmentation as in FGD (Weng et al., USENIX ATC 2023),
	// where what is free and a type of pods cannot use is weighted by how often the type comes.
	Unusable int64
	Waiting  int64 // pods that want the resource
}

// measure measures a resource on schedulable nodes. A rack is a domain; ofNode says that a pod belongs to its node.
func measure(
	s *placement.Snapshot, resource string, domains []placement.Domain, ofNode func(workload.Pod) bool, waiting []workload.Pod,
) (m measures) {
	free, whole := map[string]workload.Resources{}, map[string]bool{}
	for n := range s.Nodes() {
		if n.Unschedulable {
			continue
		}
		left, used := n.Clone().Capacity, s.UsedOn(n.Name)
		for name := range left {
			left[name] = max(0, left[name]-used[name])
		}
		free[n.Name] = left
		m.Free += left[resource]
		m.Largest = max(m.Largest, left[resource])
		whole[n.Name] = true
		for p := range s.PodsOn(n.Name) {
			whole[n.Name] = whole[n.Name] && ofNode(p)
		}
		if whole[n.Name] {
			m.Nodes++
		}
	}
	for _, d := range domains {
		gang, isWhole := int64(0), true
		for _, name := range d.Nodes {
			isWhole = isWhole && whole[name]
			if m.Largest > 0 {
				gang += free[name][resource] / m.Largest
			}
		}
		m.Gang = max(m.Gang, gang)
		if isWhole {
			m.Racks++
		}
	}
	for i := range waiting {
		if p := &waiting[i]; p.Requests[resource] > 0 {
			m.Waiting++
			for name, left := range free {
				m.Unusable += left[resource] - times(p, name, left)*p.Requests[resource]
			}
		}
	}
	return m
}

// times returns how many pods like this one have room in what is left on a node.
func times(p *workload.Pod, node string, left workload.Resources) int64 {
	if p.Nowhere || len(p.Nodes) > 0 && !slices.Contains(p.Nodes, node) {
		return 0
	}
	n := int64(1) << 40
	if pods, bounded := left[workload.PodsResource]; bounded {
		n = pods
	}
	for resource, amount := range p.Requests {
		if amount > 0 {
			n = min(n, left[resource]/amount)
		}
	}
	return n
}
