package foreign

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/workload"
)

// cycle asks for the victims of the first cycle of a whole scheduler, where that is all that the case needs: resources and node
// selectors decide about places, and one pod or one group waits.
func (g *groupCase) cycle(q *recorded.OnNodes) (string, error) {
	in := &g.Input
	g.state(q)
	if story := g.needsMore(q); story != "" {
		return story, nil
	}
	waiting := in.Waiting
	if len(waiting) == 0 {
		return "", fmt.Errorf("no preemptor")
	}
	r := placement.Request{Priority: waiting[0].Priority, Prefer: g.nodeNames()}
	if waiting[0].Group != "" {
		r.Group = g.id("PodGroup", waiting[0].Namespace, waiting[0].Group)
		of := g.find("PodGroup", waiting[0].Group)
		running := 0
		for _, p := range q.State.Pods {
			if p.Group == r.Group {
				running++
			}
		}
		if of.Policy == "gang" {
			r.MinCount = max(0, of.MinCount-running)
		}
		at := slices.IndexFunc(q.State.Groups, func(o workload.PodGroup) bool { return o.ID == r.Group })
		q.State.Groups[at].Basic = of.Policy == "basic"
		if len(of.Constraints.Topology) > 0 {
			r.Domains = g.domains(of.Constraints.Topology[0].Key)
		}
	}
	if g.neverPreempts() {
		r.Policy = placement.PreemptNever
	}
	for _, p := range waiting {
		of := workload.Pod{ID: p.Name, Namespace: g.namespace(p.Namespace), Labels: p.Labels, Requests: p.Requests, Group: r.Group}
		for _, n := range in.Nodes {
			if len(p.Selector) > 0 && g.selects(&p, &n) {
				of.Nodes = append(of.Nodes, n.Name)
			}
		}
		of.Nowhere = len(p.Selector) > 0 && len(of.Nodes) == 0
		r.Pods = append(r.Pods, of)
	}
	q.Request = r
	q.Want.Victims = append([]string{}, g.Want.Preempted...)
	runs := func(p groupPod) bool { return slices.Contains(g.Want.Scheduled, p.Name) }
	switch {
	case slices.ContainsFunc(waiting, runs):
		q.Want.Possible = ptr(true)
	case len(g.Want.Unschedulable) == len(waiting):
		q.Want.Outcome = preemption.Impossible
	}
	return "", nil
}

// selects reports whether the node selector of a pod selects a node. Each node has its name as a label.
func (g *groupCase) selects(p *groupPod, n *groupNode) bool {
	for key, value := range p.Selector {
		if n.Labels[key] != value && (key != "kubernetes.io/hostname" || n.Name != value) {
			return false
		}
	}
	return true
}

// domains lists the nodes by a label, in their order.
func (g *groupCase) domains(key string) (list []placement.Domain) {
	for _, n := range g.Input.Nodes {
		value, labelled := n.Labels[key]
		if !labelled {
			continue
		}
		at := slices.IndexFunc(list, func(d placement.Domain) bool { return d.Name == value })
		if at < 0 {
			at, list = len(list), append(list, placement.Domain{Name: value})
		}
		list[at].Nodes = append(list[at].Nodes, n.Name)
	}
	if list == nil { // nowhere
		list = []placement.Domain{{Name: key}}
	}
	return list
}

// constrainedAbove reports whether a group above a group has a topology.
func (g *groupCase) constrainedAbove(of *podGroup) bool {
	for up := *of; up.Parent != "" && g.Input.composite(); {
		if up = g.find("CompositePodGroup", up.Parent); len(up.Constraints.Topology) > 0 {
			return true
		}
	}
	return false
}

func (g *groupCase) find(kind, name string) podGroup {
	if i := slices.IndexFunc(g.Input.List, func(o podGroup) bool { return o.Kind == kind && o.Name == name }); i >= 0 {
		return g.Input.List[i]
	}
	return podGroup{}
}

// neverPreempts reports whether the waiting group or pod preempts none: without the gate one pod is enough, with it the root alone
// says it.
func (g *groupCase) neverPreempts() bool {
	waiting := g.Input.Waiting
	if gate, _ := g.Input.Gates["PodGroupPreemptionPolicy"].(bool); !gate || waiting[0].Group == "" {
		return slices.ContainsFunc(waiting, func(p groupPod) bool { return p.PreemptionPolicy == "Never" })
	}
	of := g.find("PodGroup", waiting[0].Group)
	for of.Parent != "" && g.Input.composite() {
		of = g.find("CompositePodGroup", of.Parent)
	}
	return of.PreemptionPolicy == "Never"
}

// needsMore says why a case asks for more than a decision. It gives pods without a node the only one.
func (g *groupCase) needsMore(q *recorded.OnNodes) string {
	in := &g.Input
	for i := range q.State.Pods {
		if p := &q.State.Pods[i]; p.Node == "" {
			if len(in.Nodes) > 1 {
				return "asks with pods that the scheduler has to place first"
			}
			p.Node = in.Nodes[0].Name
		}
	}
	given := func(raw json.RawMessage) bool { return len(raw) > 0 }
	o := &in.Options
	if given(o.NodeScores) || given(o.ReserveLimit) || given(o.Then) || o.RemoveGroup != nil || g.Want.EventOrder != nil {
		return "asks with plugins, or for several cycles"
	}
	for _, p := range slices.Concat(in.Pods, in.Waiting) {
		if given(p.Affinity) || given(p.Spread) || given(p.Containers) || given(p.PodLevel) || given(p.Tolerations) {
			return "asks with rules of other plugins about places"
		}
	}
	for _, n := range in.Nodes {
		if given(n.Taints) {
			return "asks with rules of other plugins about places"
		}
	}
	for _, p := range in.Waiting {
		of := g.find("PodGroup", p.Group)
		switch {
		case p.Group != in.Waiting[0].Group:
			return "asks about several groups, or groups with minimums in a group"
		case p.Group != "" && of.Name == "":
			return "asks about a group that is not there"
		case len(of.Constraints.Topology) > 1 || g.constrainedAbove(&of):
			return "asks for domains in domains"
		}
	}
	return ""
}
