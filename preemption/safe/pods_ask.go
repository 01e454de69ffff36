package safe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// request returns a request for so many pods on a node.
func (a *podAsker) request(node, queue string, priority int32, at time.Time, pods int) placement.Request {
	r := placement.Request{Priority: priority, Queue: queue, Now: at}
	if pods > 1 {
		r.Group, r.MinCount = a.id, pods
	}
	for i := range pods {
		id := a.id
		if pods > 1 {
			id = fmt.Sprintf("%s-%d", a.id, i)
		}
		r.Pods = append(r.Pods, workload.Pod{ID: id, Group: r.Group, Nodes: []string{node}, Requests: workload.Resources{}})
	}
	return r
}

// candidate reports whether the pod may yield to a request, whether or not it is needed.
func (a *podAsker) candidate(r placement.Request) bool {
	list, err := a.decider.Candidates(a.snapshot, r)
	if err != nil {
		return false
	}
	for u := range list {
		if slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return p.ID == a.pod }) {
			return true
		}
	}
	return false
}

// keeps returns the rule that keeps the unit from the most important request now.
func (a *podAsker) keeps(node string, u placement.Unit) placement.Rule {
	r := a.request(node, u.Pods[0].Queue, math.MaxInt32, a.now, 1)
	for _, p := range u.Pods {
		for resource, n := range p.Requests {
			if of, ok := a.snapshot.Node(node); ok && n > 0 && p.Node == node {
				r.Pods[0].Requests[resource] = of.Capacity[resource]
			}
		}
	}
	d, _ := a.decider.Decide(a.snapshot, r)
	for _, b := range d.Blockers {
		if b.Pod == a.pod || b.Group != "" && b.Group == u.Group {
			return b.Rule
		}
	}
	if u.Priority == math.MaxInt32 {
		return placement.RulePriority
	}
	return 0
}

// leastOn looks for the least request on a node that names the pod. Where the node is not over its capacity the least priority is enough.
func (a *podAsker) leastOn(node, queue string, own int32, at time.Time) *PodRequest {
	for _, priority := range a.priorities(node, own) {
		if found := a.least(node, queue, priority, at); found != nil {
			return found
		}
	}
	return nil
}

func (a *podAsker) least(node, queue string, priority int32, at time.Time) *PodRequest {
	n, _ := a.snapshot.Node(node)
	var resources []string
	for resource := range n.Capacity {
		if resource != workload.PodsResource {
			resources = append(resources, resource)
		}
	}
	slices.SortFunc(resources, func(a, b string) int {
		return cmp.Or(cmp.Compare(everyday(a, n.Capacity[a]), everyday(b, n.Capacity[b])), cmp.Compare(a, b))
	})
	places := func(pods int) *PodRequest { // that ask for nothing else
		if d := a.decide(a.request(node, queue, priority, at, pods)); a.names(&d) {
			return &PodRequest{Node: node, Priority: priority, Queue: queue, Pods: pods}
		}
		return nil
	}
	found := places(1)
	for _, resource := range resources {
		if found == nil {
			found = a.leastOf(n, queue, resource, priority, at)
		}
	}
	for pods := 2; found == nil && int64(pods) <= n.Capacity[workload.PodsResource]; pods++ {
		found = places(pods)
	}
	return found
}

// leastOf asks for more and more of one resource. As long as the same victims make room, nothing else that is put back can lack it.
func (a *podAsker) leastOf(n workload.Node, queue, resource string, priority int32, at time.Time) *PodRequest {
	most := n.Capacity[resource]
	ask := func(amount int64) placement.Decision {
		r := a.request(n.Name, queue, priority, at, 1)
		r.Pods[0].Requests[resource] = amount
		return a.decide(r)
	}
	for amount := int64(1); amount <= most; {
		d := ask(amount)
		if a.names(&d) {
			return &PodRequest{Node: n.Name, Priority: priority, Queue: queue, Pods: 1, Resource: resource, Amount: amount}
		}
		if a.left <= 0 {
			return nil
		}
		low, high := amount, most+1 // the same victims, others
		for high-low > 1 {
			middle := low + (high-low)/2
			if other := ask(middle); sameVictims(&d, &other) {
				low = middle
			} else {
				high = middle
			}
		}
		amount = high
	}
	return nil
}

func (a *podAsker) decide(r placement.Request) placement.Decision {
	a.left--
	d, _ := a.decider.Decide(a.snapshot, r)
	return d
}

func (a *podAsker) names(d *placement.Decision) bool {
	named := func(v placement.Victim) bool { return slices.Contains(v.Pods, a.pod) }
	return a.left >= 0 && d.Outcome == preemption.Preempt && slices.ContainsFunc(d.Victims, named)
}

func sameVictims(a, b *placement.Decision) bool {
	return a.Outcome == b.Outcome && a.Reason == b.Reason && slices.EqualFunc(a.Victims, b.Victims, func(a, b placement.Victim) bool {
		return a.Group == b.Group && slices.Equal(a.Pods, b.Pods)
	})
}
