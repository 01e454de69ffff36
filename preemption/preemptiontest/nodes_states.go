package preemptiontest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
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
		if chance(t, 1, 4) {
			bind(t, &st)
		}
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

// bind draws where running pods may go.
func bind(t *rapid.T, st *placement.State) {
	for i := range st.Pods {
		switch pick(t, "bound", 0, 0, 0, 0, 0, 0, 1, 1, 2, 3) {
		case 1:
			st.Pods[i].Nodes = []string{st.Pods[i].Node, rapid.SampledFrom(st.Nodes).Draw(t, "may go to").Name}
		case 2:
			st.Pods[i].Nodes = []string{"elsewhere"}
		case 3:
			st.Pods[i].Nowhere = true
		}
	}
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
