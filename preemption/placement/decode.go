package placement

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes"
	"github.com/cedesched/cede/workload"
)

// decision turns a result into names.
func decision(c *nodes.Cluster, r *Request, found *nodes.Result) Decision {
	d := Decision{
		Outcome: Outcome(found.Outcome), Reason: Reason(found.Reason), Withdrawn: found.Withdrawn, Now: r.Now,
		Candidate: candidate(c, r.Pods, &found.Choice),
	}
	d.Placeable = max(d.Placeable, found.Placeable)
	d.Pods = podsAfter(r, d.Nominations)
	return d
}

func candidate(c *nodes.Cluster, pods []workload.Pod, from *nodes.Choice) Candidate {
	out := Candidate{Domain: from.Domain, Violations: from.Violated(), Nominations: nominations(c, pods, from.Where)}
	out.Placeable = len(out.Nominations)
	for i, u := range from.Victims {
		v := Victim{Group: u.Group, Priority: u.Priority, Violations: from.Violations[i], Pods: make([]string, len(u.Pods))}
		for j, p := range u.Pods {
			v.Pods[j] = p.Facts.ID
		}
		slices.Sort(v.Pods)
		out.Victims = append(out.Victims, v)
	}
	slices.SortFunc(out.Victims, func(a, b Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	return out
}

func nominations(c *nodes.Cluster, pods []workload.Pod, where []int32) []Nomination {
	var list []Nomination
	for m, at := range where {
		if at >= 0 {
			list = append(list, Nomination{pods[m].ID, c.NodeName(at)})
		}
	}
	return list
}

// podsAfter is the pods of a request as they are after a decision with such nominations.
func podsAfter(r *Request, nominations []Nomination) []workload.Pod {
	pods, placed := make([]workload.Pod, len(r.Pods)), 0
	for i := range r.Pods {
		p := r.Pods[i].Clone()
		p.Priority, p.Nodes, p.Nowhere = r.Priority, nil, false
		if r.Group != "" {
			p.Group = r.Group
		}
		if placed < len(nominations) && nominations[placed].Pod == p.ID {
			p.Node = nominations[placed].Node
			placed++
		}
		pods[i] = p
	}
	return pods
}
