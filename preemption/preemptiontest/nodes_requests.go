package preemptiontest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// PlacementRequests generates valid requests about a state: pods, single pods of groups,
// gangs, Basic groups; some nominated, some with domains.
func PlacementRequests(st placement.State) *rapid.Generator[placement.Request] {
	return rapid.Custom(func(t *rapid.T) placement.Request {
		r := placement.Request{Priority: pick[int32](t, "priority", 6, 6, 6, 6, 5, 2, 1, 0), SkipFit: chance(t, 1, 8)}
		if chance(t, 1, 40) {
			r.Policy = placement.PreemptNever
		}
		r.Now = Now
		if chance(t, 1, 2) {
			r.TerminationTimeout = time.Duration(pick(t, "timeout", 2, 1, 3, 0)) * time.Hour
		}
		n, single, basic := 1, "", false
		if chance(t, 2, 3) {
			r.Group = pendingGroup
			n = pick(t, "members", 2, 3, 1, 4)
		} else if chance(t, 1, 3) {
			single = pick(t, "own group", pendingGroup, "g0", "unknown")
		}
		if slices.ContainsFunc(st.Pods, func(p workload.Pod) bool { return p.Queue != "" }) {
			r.Queue = pick(t, "asking queue", "b", "b", "a", "")
		}
		if r.Group != "" && slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == pendingRoot }) && chance(t, 1, 2) {
			r.Group = pendingRoot
		}
		if root, known := rootOf(&st, r.Group+single); known {
			r.Priority, r.Queue = root.Priority, root.Queue
		}
		basic = slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == r.Group && g.Basic })
		if r.Group != "" && !basic {
			r.MinCount = pick(t, "min count", n, n-1, 1, 0)
		}
		var largest int64
		for _, n := range st.Nodes {
			largest = max(largest, n.Capacity["cpu"])
		}
		for i := range n {
			p := nodePod(t, fmt.Sprintf("in%d", i))
			p.Priority, p.Queue, p.Group = pick(t, "own priority", 0, r.Priority), pick(t, "own queue", "", r.Queue), single
			if r.Group != "" {
				p.Group = pick(t, "named group", "", r.Group, r.Group)
				if r.Group == pendingRoot && chance(t, 3, 4) {
					p.Group = pick(t, "group of the tree", pendingGroup, pendingBeside)
				}
			}
			p.Requests["cpu"] = min(pick[int64](t, "needs", 2, 1, 3), largest)
			if chance(t, 2, 3) {
				delete(p.Requests, "gpu")
			}
			if chance(t, 1, 2) {
				p.Labels = nil
			}
			for _, k := range st.Claims {
				if chance(t, 1, 4) {
					p.Claims = append(p.Claims, k.ID)
				}
			}
			if i > 0 && chance(t, 1, 2) { // equal to the pod before
				p.Requests, p.Nodes, p.Nowhere = r.Pods[i-1].Requests, r.Pods[i-1].Nodes, r.Pods[i-1].Nowhere
			} else if chance(t, 1, 6) {
				p.Nodes = []string{"elsewhere", rapid.SampledFrom(st.Nodes).Draw(t, "may run on").Name, st.Nodes[0].Name}
			} else {
				p.Nowhere = chance(t, 1, 80)
			}
			r.Pods = append(r.Pods, p)
		}
		for _, p := range st.Nominated {
			if chance(t, 1, 2) && len(r.Pods) == n {
				r.Pods[0].ID = p.ID
				break
			}
		}
		names := make([]string, len(st.Nodes))
		for i := range names {
			names[i] = st.Nodes[i].Name
		}
		names = rapid.Permutation(names).Draw(t, "nodes")
		if r.Group != "" && !basic && chance(t, 1, 3) {
			r.Domains = split(t, names)
		}
		if chance(t, 1, 4) {
			r.Prefer = slices.Clone(names[:rapid.IntRange(0, len(names)).Draw(t, "preferred")])
		}
		if chance(t, 9, 10) {
			if mostPlaced(&st, &r) == 0 { // request less
				for i := range r.Pods {
					r.Pods[i].Requests, r.Pods[i].Nodes, r.Pods[i].Nowhere = workload.Resources{"cpu": 1}, nil, false
				}
			}
			r.MinCount = min(r.MinCount, max(1, mostPlaced(&st, &r)))
		}
		r.DomainsPreferred = len(r.Domains) > 0 && chance(t, 1, 2)
		if r.Group == pendingRoot {
			addNested(t, &st, &r, names)
		}
		return r
	})
}

// addNested draws what the groups below that of a request need.
func addNested(t *rapid.T, st *placement.State, r *placement.Request, names []string) {
	below := func(id string) (pods int) { // what waits in a group and below it
		for _, p := range r.Pods {
			for at := p.Group; at != ""; {
				if at == id {
					pods++
					break
				}
				i := slices.IndexFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == at })
				if i < 0 {
					break
				}
				at = st.Groups[i].Parent
			}
		}
		return pods
	}
	groups := func(id string) (count int) {
		for _, g := range st.Groups {
			if g.Parent == id && below(g.ID) > 0 {
				count++
			}
		}
		return count
	}
	r.MinGroups = rapid.IntRange(0, groups(r.Group)).Draw(t, "min groups")
	for _, g := range st.Groups {
		if pods := below(g.ID); g.ID != r.Group && pods > 0 && chance(t, 1, 2) {
			s := placement.NestedGroup{
				Group: g.ID, MinCount: rapid.IntRange(0, pods).Draw(t, "min count below"), MinGroups: rapid.IntRange(0, groups(g.ID)).Draw(t, "min groups below"),
			}
			if chance(t, 1, 2) {
				s.Domains, s.DomainsPreferred = split(t, names), chance(t, 1, 3)
			}
			r.Nested = append(r.Nested, s)
		}
	}
}

// mostPlaced returns the number of pods, placed one after the other, that the best domain
// takes when its nodes are idle.
func mostPlaced(st *placement.State, r *placement.Request) (most int) {
	domains := r.Domains
	if len(domains) == 0 {
		domains = []placement.Domain{{}}
	}
	for _, d := range domains {
		free, placed := map[string]workload.Resources{}, 0
		for _, n := range st.Nodes {
			if !n.Unschedulable && (len(r.Domains) == 0 || slices.Contains(d.Nodes, n.Name)) {
				free[n.Name] = n.Clone().Capacity
			}
		}
		for _, p := range r.Pods {
			for _, n := range st.Nodes {
				left := free[n.Name]
				pods, bounded := left[workload.PodsResource]
				allowed := !p.Nowhere && (len(p.Nodes) == 0 || slices.Contains(p.Nodes, n.Name)) && (!bounded || pods > 0)
				if left == nil || !allowed || left["cpu"] < p.Requests["cpu"] || left["gpu"] < p.Requests["gpu"] {
					continue
				}
				left["cpu"] -= p.Requests["cpu"]
				left["gpu"] -= p.Requests["gpu"]
				if bounded {
					left[workload.PodsResource]--
				}
				placed++
				break
			}
		}
		most = max(most, placed)
	}
	return most
}

// split makes two domains of the nodes, or one for each node.
func split(t *rapid.T, names []string) []placement.Domain {
	if chance(t, 1, 3) {
		var list []placement.Domain
		for _, name := range names {
			list = append(list, placement.Domain{Name: "only " + name, Nodes: []string{name}})
		}
		return list
	}
	cut := rapid.IntRange(0, len(names)).Draw(t, "cut")
	return []placement.Domain{{Name: "left", Nodes: names[:cut]}, {Name: "right", Nodes: names[cut:]}}
}
