package placement_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// crowd is a cluster of unequal nodes and pods: groups over nodes, budgets that overlap, pods
// without a start, with another resource, terminating or nominated.
func crowd(seed, nodes int) placement.State {
	var st placement.State
	number := func(what, i, n int) int { return mix(seed*7919+what*104_729+i) % n }
	for n := range nodes {
		node := workload.Node{Name: fmt.Sprintf("n%03d", n), Capacity: workload.Resources{"cpu": int64(4 + number(1, n, 5)), "gpu": int64(number(2, n, 4))}}
		node.Unschedulable = number(3, n, 20) == 0
		var used int64
		for k := 0; used < node.Capacity["cpu"]-int64(number(22, n, 60)/59)*3 && k < 8; k++ {
			i := len(st.Pods)
			p := workload.Pod{ID: fmt.Sprintf("p%04d", i), UID: fmt.Sprint(number(4, i, 5)), Namespace: "ns", Node: node.Name, Priority: int32(number(5, i, 6)) - 2}
			p.Requests = workload.Resources{"cpu": int64(1 + number(6, i, 3))}
			if number(7, i, 4) == 0 {
				p.Requests["gpu"] = 1
			}
			if number(8, i, 5) > 0 {
				p.Started = time.Unix(int64(number(9, i, 9)), 0)
			}
			if number(10, i, 6) == 0 {
				p.Group = fmt.Sprint(number(11, i, 12))
			}
			p.Labels = map[string]string{"app": fmt.Sprint(number(12, i, 5)), "tier": fmt.Sprint(number(13, i, 3))}
			p.Terminating = number(14, i, 60) == 0
			used += p.Requests["cpu"]
			st.Pods = append(st.Pods, p)
		}
		if number(15, n, 25) == 0 {
			st.Nominated = append(st.Nominated, workload.Pod{ID: "waits on " + node.Name, Node: node.Name, Priority: int32(number(16, n, 9)), Requests: workload.Resources{"cpu": 1}})
		}
		st.Nodes = append(st.Nodes, node)
	}
	for g := range 9 {
		st.Groups = append(st.Groups, workload.PodGroup{ID: fmt.Sprint(g), Priority: int32(number(17, g, 6)) - 2, DisruptionMode: workload.DisruptionMode(number(18, g, 2))})
	}
	for b := range number(19, 0, 4) {
		key := []string{"app", "tier"}[b%2]
		budget := workload.DisruptionBudget{Namespace: "ns", Name: fmt.Sprint(b), Allowed: int64(number(20, b, 3))}
		budget.Selector = &workload.LabelSelector{MatchLabels: map[string]string{key: fmt.Sprint(number(21, b, 3))}}
		for i := 0; i < len(st.Pods); i += 17 {
			budget.Disrupted = append(budget.Disrupted, st.Pods[i].ID)
		}
		st.Budgets = append(st.Budgets, budget)
	}
	if seed%4 == 0 {
		st.Budgets = append(st.Budgets, workload.DisruptionBudget{Namespace: "ns", Name: "all", Selector: &workload.LabelSelector{}})
	}
	return st
}

// Decide leaves out nodes by bounds; Explain looks at every node that could lose nobody of a
// higher priority. They choose the same node and the same victims.
func TestBoundsChangeNoAnswer(t *testing.T) {
	outcomes := map[string]int{}
	for seed := range 60 {
		st := crowd(seed, 40)
		s := snapshotOf(t, st)
		for i := range 12 {
			r := placement.Request{Priority: int32(i%6) - 1, SkipFit: i%5 == 0, Pods: []workload.Pod{{ID: "in", Requests: workload.Resources{"cpu": int64(2 + i%7)}}}}
			if i%4 == 0 {
				r.Pods[0].Requests["gpu"] = 1
			}
			if i%3 == 0 {
				r.Prefer = []string{st.Nodes[seed%40].Name}
			}
			c := placement.Config{Mode: placement.Mode(seed % 2), Budgets: placement.BudgetMode(seed / 3 % 2), Order: placement.Order(seed / 6 % 3)}
			p := must(placement.New(c))(t)
			d := must(p.Decide(s, r))(t)
			e := must(explain.ExplainPlacement(p, s, r))(t)
			noDiff(t, fmt.Sprintf("seed %d, request %d (- every node, + bounds)", seed, i), e.Decision, d)
			outcomes[d.Outcome.String()]++
			if d.Violations > 0 {
				outcomes["violation"]++
			}
		}
	}
	for _, name := range []string{"Preempt", "Fits", "Impossible", "violation"} {
		if outcomes[name] < 20 {
			t.Errorf("%s: %d times", name, outcomes[name])
		}
	}
}

// A list of nodes means the same in any order, and names of unknown nodes nothing.
func TestNodesInAnyOrder(t *testing.T) {
	s := snapshotOf(t, world(t, "a 1: p1/1", "b 1: p2/1", "c 1: p3/1", "d 1: p4/1"))
	for _, test := range []struct {
		nodes []string
		want  string
	}{
		{[]string{"b", "d"}, "[b d]"},
		{[]string{"d", "b"}, "[b d]"},
		{[]string{"", "a", "aa", "b", "zz"}, "[a b]"},
		{[]string{"zz", "c", "c", "a"}, "[a c]"},
		{[]string{"bb", "b", "e"}, "[b]"},
		{[]string{"none"}, "[]"},
	} {
		r := pending(0)
		r.Pods[0].Nodes = test.nodes
		list := must(new(placement.Preemptor).Placements(s, r))(t)
		got := []string{}
		for _, p := range list {
			got = append(got, p.Domain)
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("%q: %v, want %v", test.nodes, got, test.want)
		}
	}
}
