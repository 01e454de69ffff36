package foreign

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/workload"
)

// cycle asks for the victims and places of a pod or of a group with the groups below it, as a whole scheduler has them in the
// end: pods that are left are asked about again.
func (g *groupCase) cycle(q *recorded.OnNodes) (string, error) {
	in := &g.Input
	if len(in.Waiting) == 0 {
		return "", fmt.Errorf("no preemptor")
	}
	if story := g.needsMore(); story != "" {
		return story, nil
	}
	g.state(q)
	if story := g.rules(q); story != "" {
		return story, nil
	}
	first := &in.Waiting[0]
	q.Request = placement.Request{Priority: first.Priority, Prefer: g.nodeNames()}
	r := &q.Request
	if first.Group != "" {
		if story := g.needs(q, g.root(first.Group)); story != "" {
			return story, nil
		}
		q.Again = r.MinGroups == 0 && len(r.Nested) == 0
	}
	if g.neverPreempts() {
		r.Policy = placement.PreemptNever
	}
	for i := range in.Waiting {
		p := &in.Waiting[i]
		of := workload.Pod{ID: p.Name, Namespace: g.namespace(p.Namespace), Labels: p.Labels, Requests: g.requests(p, true)}
		if p.Group != "" {
			of.Group = g.id("PodGroup", p.Namespace, p.Group)
		}
		g.restrict(&of, p)
		r.Pods = append(r.Pods, of)
	}
	w := &q.Want
	w.Victims, w.Within = append([]string{}, g.Want.Preempted...), g.Want.within
	for _, p := range in.Waiting {
		if slices.Contains(g.Want.Scheduled, p.Name) {
			w.Placed = append(w.Placed, p.Name)
		}
		if slices.Contains(g.Want.Unschedulable, p.Name) {
			w.NotPlaced = append(w.NotPlaced, p.Name)
		}
	}
	return "", nil
}

// needsMore says why a case asks for more than decisions about one pod or group. It gives pods without a node the only one.
func (g *groupCase) needsMore() string {
	in := &g.Input
	for i := range in.Pods {
		if p := &in.Pods[i]; p.Node == "" {
			if len(in.Nodes) != 1 {
				return "asks with pods that the scheduler has to place first"
			}
			p.Node = in.Nodes[0].Name
		}
	}
	root := g.root(in.Waiting[0].Group)
	for _, p := range in.Waiting {
		switch of := g.root(p.Group); {
		case of.Name != root.Name || of.Kind != root.Kind || (p.Group == "") != (in.Waiting[0].Group == ""):
			return "asks about several groups"
		case p.Group != "" && g.find("PodGroup", p.Group).Name == "" || in.Options.RemoveGroup != nil:
			return "asks about a group that is not there"
		}
	}
	return ""
}

// neverPreempts reports whether the waiting group or pod preempts none: without the gate one pod is enough, with it the root alone
// says it.
func (g *groupCase) neverPreempts() bool {
	waiting := g.Input.Waiting
	if gate, _ := g.Input.Gates["PodGroupPreemptionPolicy"].(bool); !gate || waiting[0].Group == "" {
		return slices.ContainsFunc(waiting, func(p groupPod) bool { return p.PreemptionPolicy == "Never" })
	}
	return g.root(waiting[0].Group).PreemptionPolicy == "Never"
}

// leaves is what happens after the first decision, in words.
var leaves = regexp.MustCompile(`^(\S+) is deleted while (\S+(?: and \S+)*) are still terminating$`)

// then asks again after the decision of a question: its victims still terminate, and another pod is gone.
func (g *groupCase) then(q recorded.OnNodes) (recorded.OnNodes, error) {
	words := leaves.FindStringSubmatch(g.Input.Options.Then)
	if words == nil {
		return q, fmt.Errorf("unknown words %q", g.Input.Options.Then)
	}
	st, victims := &q.State, strings.Split(words[2], " and ")
	st.Pods = slices.DeleteFunc(slices.Clone(st.Pods), func(p workload.Pod) bool { return p.ID == words[1] })
	var free []string
	for i := range st.Pods {
		if p := &st.Pods[i]; slices.Contains(victims, p.ID) {
			p.Terminating, p.Preempted = true, true
			free = append(free, p.Node)
		}
	}
	for i, p := range q.Request.Pods {
		if i < len(free) {
			p.Node, p.Priority = free[i], q.Request.Priority
			st.Nominated = append(st.Nominated, p)
		}
	}
	q.Request.SkipFit = true // a nomination holds, whatever becomes free
	q.Want = recorded.WantOnNodes{Outcome: preemption.Wait, Victims: []string{}}
	return q, nil
}
