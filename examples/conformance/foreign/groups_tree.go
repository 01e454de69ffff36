package foreign

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/workload"
)

func (g *groupCase) find(kind, name string) podGroup {
	if i := slices.IndexFunc(g.Input.List, func(o podGroup) bool { return o.Kind == kind && o.Name == name }); i >= 0 {
		return g.Input.List[i]
	}
	return podGroup{}
}

// mostNested is how many groups are nested in each other at most.
const mostNested = 4

// way lists the groups around a pod of a PodGroup, its own first.
func (g *groupCase) way(name string) (list []podGroup) {
	of := g.find("PodGroup", name)
	for of.Name != "" && len(list) < mostNested {
		if list = append(list, of); of.Parent == "" || !g.Input.composite() {
			break
		}
		of = g.find("CompositePodGroup", of.Parent)
	}
	return list
}

// root returns the root of the groups around a pod of a PodGroup; zero: there is none.
func (g *groupCase) root(name string) (root podGroup) {
	for _, root = range g.way(name) {
	}
	return root
}

func (g *groupCase) idOf(of *podGroup) string { return g.id(of.Kind, of.Namespace, of.Name) }

// under lists the pods of a list in a group or below it.
func (g *groupCase) under(of *podGroup, pods []groupPod) (list []groupPod) {
	for _, p := range pods {
		if slices.ContainsFunc(g.way(p.Group), func(o podGroup) bool { return o.Kind == of.Kind && o.Name == of.Name }) {
			list = append(list, p)
		}
	}
	return list
}

// needs sets what the waiting root and the groups below it need, besides what runs of them.
func (g *groupCase) needs(q *recorded.OnNodes, root podGroup) (story string) {
	r := &q.Request
	r.Group = g.idOf(&root)
	top, story := g.needsOf(&root)
	if story != "" {
		return story
	}
	r.MinCount, r.MinGroups, r.Domains = top.MinCount, top.MinGroups, top.Domains
	if at := slices.IndexFunc(q.State.Groups, func(o workload.PodGroup) bool { return o.ID == r.Group }); at >= 0 && root.Policy == "basic" {
		q.State.Groups[at].Basic = true
	}
	for i := range g.Input.List {
		of := &g.Input.List[i]
		if g.idOf(of) == r.Group || len(g.under(of, g.Input.Waiting)) == 0 || of.Kind == "CompositePodGroup" && !g.Input.composite() {
			continue
		}
		need, story := g.needsOf(of)
		if story != "" {
			return story
		}
		if need.MinCount > 0 || need.MinGroups > 0 || need.Domains != nil {
			r.Nested = append(r.Nested, need)
		}
	}
	return ""
}

// needsOf returns what a group needs besides what runs of it.
func (g *groupCase) needsOf(of *podGroup) (need placement.NestedGroup, story string) {
	need.Group = g.idOf(of)
	waiting := g.under(of, g.Input.Waiting)
	if of.Kind == "PodGroup" && of.Policy == "gang" {
		need.MinCount = max(0, of.MinCount-len(g.under(of, g.Input.Pods)))
	}
	if of.Kind == "CompositePodGroup" && of.Policy == "gang" {
		need.MinGroups = of.MinGroupCount
		pending := 0
		for i := range g.Input.List {
			below := &g.Input.List[i]
			switch {
			case below.Parent != of.Name:
			case len(g.under(below, g.Input.Waiting)) > 0:
				pending++
			case len(g.under(below, g.Input.Pods)) >= max(1, below.MinCount):
				need.MinGroups--
			}
		}
		if need.MinGroups = max(0, need.MinGroups); need.MinGroups > pending {
			return need, "asks about a group of which groups are missing"
		}
	}
	if need.MinCount > len(waiting) {
		return need, "asks about a group of which pods are missing"
	}
	switch keys := of.Constraints.Topology; {
	case len(keys) > 1:
		return need, "asks for several topologies of a group"
	case len(keys) == 1:
		need.Domains = g.domains(keys[0].Key, of)
	}
	return need, ""
}

// splitBy lists the nodes by a label, in their order.
func (g *groupCase) splitBy(key string) (list []placement.Domain) {
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
	return list
}

// domains lists the nodes by a label: the domains with all running pods of the group, in the order of the scheduler's score
// without pods of lower priority: by the scores of the nodes, if there are some, else by how much of them is allocated.
func (g *groupCase) domains(key string, of *podGroup) []placement.Domain {
	list := slices.DeleteFunc(g.splitBy(key), func(d placement.Domain) bool {
		return slices.ContainsFunc(g.under(of, g.Input.Pods), func(p groupPod) bool { return !slices.Contains(d.Nodes, p.Node) })
	})
	score := map[string]float64{}
	for _, d := range list {
		score[d.Name] = g.score(d)
	}
	slices.SortStableFunc(list, func(a, b placement.Domain) int { return cmp.Compare(score[b.Name], score[a.Name]) })
	if len(list) == 0 { // nowhere
		list = []placement.Domain{{Name: key}}
	}
	return list
}

func (g *groupCase) score(d placement.Domain) float64 {
	var scores, used, capacity int64
	for _, n := range g.Input.Nodes {
		if slices.Contains(d.Nodes, n.Name) {
			scores, capacity = scores+g.Input.Options.NodeScores[n.Name], capacity+n.Capacity["cpu"]
		}
	}
	if len(g.Input.Options.NodeScores) > 0 {
		return float64(scores) / float64(len(d.Nodes))
	}
	for _, p := range g.Input.Pods {
		if slices.Contains(d.Nodes, p.Node) && p.Priority >= g.Input.Waiting[0].Priority {
			used += p.Requests["cpu"]
		}
	}
	for _, p := range g.Input.Waiting {
		used += p.Requests["cpu"]
	}
	return float64(used) / float64(max(1, capacity))
}
