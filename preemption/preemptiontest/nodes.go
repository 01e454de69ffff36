package preemptiontest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// PlacementRecords generates valid states of nodes, each with a valid request about it. In
// most of them a unit must yield; in some the request waits.
func PlacementRecords() *rapid.Generator[placement.Record] {
	return rapid.Custom(func(t *rapid.T) placement.Record {
		st := PlacementStates().Draw(t, "state")
		timed := chance(t, 2, 5)
		if timed && chance(t, 1, 3) || !timed && chance(t, 1, 8) {
			stretch(t, &st)
		}
		if timed {
			protect(t, &st)
		}
		r := PlacementRequests(st).Draw(t, "request")
		if chance(t, 1, 4) {
			startWaiting(t, &st, &r)
		}
		return placement.Record{State: st, Request: &r}
	})
}

// startWaiting changes a record so that earlier victims terminate on a node, mostly one to
// which the request is nominated.
func startWaiting(t *rapid.T, st *placement.State, r *placement.Request) {
	node := rapid.SampledFrom(st.Nodes).Draw(t, "victims on").Name
	for i := range st.Pods {
		if p := &st.Pods[i]; p.Node == node && chance(t, 4, 5) {
			p.Terminating, p.Preempted = true, true
			p.TerminatingSince = Now.Add(-time.Duration(rapid.IntRange(0, 2).Draw(t, "leaving for")) * time.Hour)
		}
	}
	for _, p := range r.Pods {
		known := slices.ContainsFunc(st.Nominated, func(n workload.Pod) bool { return n.ID == p.ID })
		if !known && chance(t, 2, 3) {
			p.Node, p.Nodes, p.Nowhere, p.Priority, p.Queue = node, nil, false, r.Priority, r.Queue
			if r.Group != "" {
				p.Group = r.Group
			}
			st.Nominated = append(st.Nominated, p)
		}
	}
}

// pendingGroup is the group of requests for groups; pendingRoot may be around it, and then around pendingBeside, too.
const (
	pendingGroup  = "pending"
	pendingBeside = "beside"
	pendingRoot   = "tree"
)

// PlacementStates generates valid states: up to five nodes, mostly full, up to fourteen pods,
// groups of both modes, overlapping budgets, nominations, pods that terminate; perhaps the
// group of the requests.
func PlacementStates() *rapid.Generator[placement.State] {
	return rapid.Custom(func(t *rapid.T) placement.State {
		var st placement.State
		for i := range pick(t, "nodes", 3, 2, 4, 1, 5) {
			n := workload.Node{Name: fmt.Sprintf("n%d", i), Capacity: workload.Resources{"cpu": pick[int64](t, "cpu", 4, 3, 2, 6)}}
			if chance(t, 2, 3) {
				n.Capacity["gpu"] = pick[int64](t, "gpu", 1, 2, 4)
			}
			if chance(t, 1, 4) {
				n.Capacity[workload.PodsResource] = pick[int64](t, "pods", 2, 1, 3)
			}
			n.Unschedulable = i > 0 && chance(t, 1, 12)
			n.Labels = map[string]string{"zone": pick(t, "zone", "a", "a", "b")}
			st.Nodes = append(st.Nodes, n)
		}
		for i := range pick(t, "groups", 2, 3, 2, 1, 0) {
			g := workload.PodGroup{ID: fmt.Sprintf("g%d", i), Priority: pick[int32](t, "group priority", 0, 1, 2, 5, -7)}
			if chance(t, 4, 5) {
				g.DisruptionMode = workload.DisruptionModePodGroup
			}
			g.Basic = chance(t, 1, 3)
			g.MinCount = pick(t, "minimum of pods", 1, 0, 2)
			st.Groups = append(st.Groups, g)
		}
		if chance(t, 1, 2) {
			g := workload.PodGroup{ID: pendingGroup, Priority: pick[int32](t, "pending priority", 6, 6, 6, 5, 2, 0)}
			g.Basic = chance(t, 1, 3)
			if chance(t, 1, 4) {
				g.DisruptionMode = workload.DisruptionModePodGroup
			}
			st.Groups = append(st.Groups, g)
		}
		nest(t, &st)
		fill(t, &st)
		for i := range pick(t, "nominated", 0, 0, 0, 1, 2) {
			p := nodePod(t, fmt.Sprintf("w%d", i))
			p.Node = rapid.SampledFrom(st.Nodes).Draw(t, "node").Name
			st.Nominated = append(st.Nominated, p)
		}
		if chance(t, 1, 6) {
			claim(t, &st)
		}
		for i := range pick(t, "budgets", 1, 2, 0, 3) {
			b := workload.DisruptionBudget{Namespace: "ns", Name: fmt.Sprintf("b%d", i), Allowed: pick[int64](t, "allowed", 0, 1, 2)}
			switch pick(t, "selector", 1, 3, 2, 0) {
			case 1:
				b.Selector = &workload.LabelSelector{MatchLabels: map[string]string{"app": rapid.SampledFrom(apps).Draw(t, "selected")}}
			case 2:
				b.Selector = &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{requirement(t)}}
			case 3:
				b.Selector = &workload.LabelSelector{}
			}
			for _, p := range st.Pods {
				if chance(t, 1, 10) {
					b.Disrupted = append(b.Disrupted, p.ID)
				}
			}
			st.Budgets = append(st.Budgets, b)
		}
		return st
	})
}

// claim draws claims of devices, and the pods that hold them: mostly pods of one node.
func claim(t *rapid.T, st *placement.State) {
	for i := range st.Nodes {
		if chance(t, 3, 4) {
			st.Nodes[i].Capacity["device"] = pick[int64](t, "devices", 1, 2, 3)
		}
	}
	for i := range pick(t, "claims", 2, 1, 3, 4) {
		k := workload.Claim{ID: fmt.Sprintf("c%d", i), Requests: workload.Resources{"device": pick[int64](t, "claimed", 1, 2, 0)}}
		if chance(t, 1, 4) {
			k.Requests["gpu"] = 1
		}
		st.Claims = append(st.Claims, k)
		node := rapid.SampledFrom(st.Nodes).Draw(t, "node of the claim").Name
		for _, list := range [][]workload.Pod{st.Pods, st.Nominated} {
			for j := range list {
				if p := &list[j]; p.Node == node && chance(t, 2, 3) || chance(t, 1, 30) {
					p.Claims = append(p.Claims, k.ID)
				}
			}
		}
	}
}

// nest puts some of the groups into up to three others, which may be in each other.
func nest(t *rapid.T, st *placement.State) {
	if len(st.Groups) == 0 || chance(t, 3, 5) {
		return
	}
	parents := []string{}
	for i := range pick(t, "parents", 1, 2, 3) {
		g := workload.PodGroup{ID: fmt.Sprintf("t%d", i), Priority: pick[int32](t, "parent priority", 0, 1, 2, -7)}
		if i > 0 && chance(t, 2, 3) {
			g.Parent = parents[i-1]
		}
		if chance(t, 2, 3) {
			g.DisruptionMode = workload.DisruptionModePodGroup
		}
		parents, st.Groups = append(parents, g.ID), append(st.Groups, g)
	}
	for i := range st.Groups {
		g := &st.Groups[i]
		if slices.Contains(parents, g.ID) || !chance(t, 2, 3) {
			continue
		}
		if g.Parent = rapid.SampledFrom(parents).Draw(t, "parent"); g.ID == pendingGroup && chance(t, 2, 3) {
			top, beside := workload.PodGroup{ID: pendingRoot, Priority: g.Priority}, workload.PodGroup{ID: pendingBeside, Parent: pendingRoot}
			middle := workload.PodGroup{ID: "middle", Parent: top.ID}
			if g.Parent = top.ID; chance(t, 1, 2) {
				g.Parent = middle.ID
			}
			if chance(t, 1, 3) {
				beside.Parent = middle.ID
			}
			st.Groups = append(st.Groups, top, middle, beside)
			break
		}
	}
}

// rootOf returns the root of a group of a state: the group of which the priority and the queue count. ok is false if
// the state does not have the group.
func rootOf(st *placement.State, id string) (g workload.PodGroup, ok bool) {
	for {
		at := slices.IndexFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == id })
		if at < 0 {
			return g, ok
		}
		g, ok, id = st.Groups[at], true, st.Groups[at].Parent
	}
}

func requirement(t *rapid.T) workload.LabelRequirement {
	r := workload.LabelRequirement{Key: "app"}
	r.Operator = rapid.SampledFrom([]workload.LabelOperator{workload.NotIn, workload.In, workload.Exists, workload.DoesNotExist}).Draw(t, "operator")
	if r.Operator == workload.In || r.Operator == workload.NotIn {
		r.Values = apps[:1]
	}
	return r
}

// fill draws pods until the nodes are full; some nodes keep room, some hold too much.
func fill(t *rapid.T, st *placement.State) {
	for _, n := range st.Nodes {
		free, slack := n.Capacity["cpu"], pick[int64](t, "slack", 0, 0, 0, 0, 0, 0, 1, 2, -2)
		for i := 0; i < 5 && free > slack && len(st.Pods) < 14; i++ {
			p := nodePod(t, fmt.Sprintf("p%02d", len(st.Pods)))
			if slack >= 0 && p.Requests["cpu"] > free {
				p.Requests["cpu"] = free
			}
			free -= p.Requests["cpu"]
			p.Node = n.Name
			if p.Terminating = chance(t, 1, 12); p.Terminating {
				p.Preempted = chance(t, 1, 2)
				if chance(t, 3, 4) {
					p.TerminatingSince = Now.Add(-time.Duration(rapid.IntRange(0, 2).Draw(t, "leaving for")) * time.Hour)
				}
			}
			st.Pods = append(st.Pods, p)
		}
	}
}

var apps = []string{"web", "db"}

// nodePod draws a pod without a node.
func nodePod(t *rapid.T, id string) workload.Pod {
	p := workload.Pod{
		ID: id, UID: fmt.Sprintf("u%d", rapid.IntRange(0, 3).Draw(t, "uid")), Namespace: "ns",
		Priority: pick[int32](t, "priority", 0, 1, 2, 5, -7),
		Requests: workload.Resources{"cpu": pick[int64](t, "cpu", 2, 1, 3, 0)},
	}
	if chance(t, 1, 4) {
		p.Requests["gpu"] = pick[int64](t, "gpu", 1, 2)
	}
	if chance(t, 2, 3) {
		p.Labels = map[string]string{"app": rapid.SampledFrom(apps).Draw(t, "app")}
	}
	if chance(t, 3, 5) {
		p.Group = fmt.Sprintf("g%d", pick(t, "group", 1, 0, 1, 0, 2, 3)) // some groups are missing in the state
	}
	if chance(t, 2, 3) {
		p.Started = Now.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "age")) * time.Hour)
	}
	return p
}

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

// pinned draws a guard that keeps some for ever, or until a time.
func pinned(t *rapid.T) Pinned {
	g := Pinned{Label: "app", Value: rapid.SampledFrom(apps).Draw(t, "pinned")}
	if chance(t, 2, 3) {
		g.Until = Now.Add(time.Duration(pick(t, "pinned for", 1, 2, 0, -1)) * time.Hour)
	}
	return g
}

// stretch makes an elastic group of the pods without one, and some others.
func stretch(t *rapid.T, st *placement.State) {
	if len(st.Groups) == 0 {
		return
	}
	g := &st.Groups[0]
	if g.ID != pendingGroup {
		g.Parent = ""
	}
	g.DisruptionMode, g.MinCount, g.Priority = workload.DisruptionModePod, pick(t, "least of pods", 1, 2, 3), pick[int32](t, "elastic priority", 0, 1, -7)
	for i := range st.Pods {
		if st.Pods[i].Group == "" || chance(t, 1, 4) {
			st.Pods[i].Group = g.ID
		}
	}
}

// protect draws minimum runtimes, of groups and pods.
func protect(t *rapid.T, st *placement.State) {
	queued, contrary := chance(t, 2, 3), chance(t, 1, 3) // contrary: to be reclaimed, and not to be preempted
	minimum := func() quota.OptionalDuration {
		switch {
		case contrary:
			return quota.Some(4 * time.Hour)
		case chance(t, 1, 2):
			return quota.OptionalDuration{}
		}
		return quota.Some(pick[time.Duration](t, "minimum", 2, 1, 3, 4, 0) * time.Hour)
	}
	queue := func(of ...string) string {
		if !queued {
			return ""
		}
		return pick(t, "queue", of...)
	}
	reclaim := func(preempt quota.OptionalDuration) quota.OptionalDuration {
		if contrary && preempt.Or(0) > 0 {
			return quota.Some(time.Duration(0))
		}
		return minimum()
	}
	for i := range st.Groups {
		g := &st.Groups[i]
		if g.MinRuntime, g.Queue = minimum(), queue("a", "a", "b", ""); g.ID == pendingGroup {
			g.Queue = queue("b", "b", "a", "")
		}
		g.ReclaimMinRuntime = reclaim(g.MinRuntime)
	}
	for i := range st.Pods {
		p := &st.Pods[i]
		p.MinRuntime, p.ReclaimMinRuntime, p.Queue = quota.OptionalDuration{}, quota.OptionalDuration{}, queue("a", "a", "b", "")
		if chance(t, 1, 2) {
			p.MinRuntime = minimum()
			p.ReclaimMinRuntime = reclaim(p.MinRuntime)
		}
	}
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

// PlacementConfigs generates valid configurations, without set filters and without an order of
// importance of the caller's own.
func PlacementConfigs() *rapid.Generator[placement.Config] {
	return rapid.Custom(func(t *rapid.T) placement.Config {
		c := placement.Config{
			Mode:    pick(t, "mode", placement.ModeDesign, placement.ModeDesign, placement.ModeInPlace, placement.ModeReplace),
			Order:   pick(t, "order", placement.FirstFit, placement.BestFit, placement.RoundRobin),
			Budgets: pick(t, "budgets", placement.Soft, placement.Hard),
		}
		if chance(t, 1, 4) {
			c.Filters = []placement.Filter{Apart{Label: "app", Zone: "a", Anywhere: chance(t, 1, 2)}}
		}
		if chance(t, 1, 4) {
			c.Guards = []placement.Guard{pinned(t)}
		}
		if chance(t, 1, 6) {
			c.MinRuntime = quota.Some(pick(t, "default minimum", time.Hour, 2*time.Hour, 0))
			c.ReclaimMinRuntime = quota.Some(pick(t, "default minimum against reclaims", time.Hour, 0, 3*time.Hour))
		}
		if chance(t, 1, 4) {
			c.Charge = pick(t, "charge", placement.ChargeToAll, placement.ChargeToFirstViolated)
		}
		return c
	})
}
