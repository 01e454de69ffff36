package settle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// pod runs on a node, the letter that its ID begins with, and takes some CPU.
func pod(id string, priority int32, cpu int64) workload.Pod {
	return workload.Pod{ID: id, Namespace: "ns", Node: id[:1], Priority: priority, Requests: workload.Resources{"cpu": cpu}, Started: now.Add(-time.Hour)}
}

func in(group string, p workload.Pod) workload.Pod {
	p.Group = group
	return p
}

// toldOfNodes is an answer in a line.
func toldOfNodes(a settle.NodesAnswer) string {
	text := []string{a.Outcome.String()}
	for _, v := range a.Victims {
		text = append(text, strings.Join(v.Pods, "+"))
	}
	for _, id := range a.Withdrawn {
		text = append(text, "-"+id)
	}
	for _, e := range a.Remaining {
		text = append(text, fmt.Sprintf("%s:%d %s", e.Node, e.Amount, e.Resource))
	}
	if !a.MoreAt.IsZero() {
		text = append(text, "more "+a.MoreAt.Sub(now).String())
	}
	if !a.RetryAt.IsZero() {
		text = append(text, "retry "+a.RetryAt.Sub(now).String())
	}
	return strings.Join(text, " ")
}

func TestDecideNodes(t *testing.T) {
	node := func(name string, cpu int64) workload.Node {
		return workload.Node{Name: name, Capacity: workload.Resources{"cpu": cpu}}
	}
	cordoned := node("a", 8)
	cordoned.Unschedulable = true
	young := pod("a3", 0, 2)
	young.Started, young.MinRuntime = now.Add(-time.Minute), quota.Some(10*time.Minute)
	leaving := pod("a2", 0, 4)
	leaving.Terminating = true
	guarded := workload.DisruptionBudget{Namespace: "ns", Name: "all", Selector: &workload.LabelSelector{}, Allowed: 1}
	for name, c := range map[string]struct {
		state  placement.State
		config placement.Config
		ask    settle.NodesRequest
		want   string
	}{
		"nothing is over": {
			state: placement.State{Nodes: []workload.Node{node("a", 4)}, Pods: []workload.Pod{pod("a1", 0, 4)}},
			want:  "Fits",
		},
		"a node lost capacity: the least important pods leave": {
			state: placement.State{Nodes: []workload.Node{node("a", 5)}, Pods: []workload.Pod{pod("a1", 9, 4), pod("a2", 0, 2), pod("a3", 1, 1)}},
			want:  "Preempt a2",
		},
		"what terminates does not count": {
			state: placement.State{Nodes: []workload.Node{node("a", 4)}, Pods: []workload.Pod{pod("a1", 0, 4), leaving}},
			want:  "Fits",
		},
		"a group that yields whole leaves other nodes, too": {
			state: placement.State{
				Nodes: []workload.Node{node("a", 3), node("b", 9)}, Groups: []workload.PodGroup{{ID: "g", Priority: 0, DisruptionMode: workload.DisruptionModePodGroup}},
				Pods: []workload.Pod{pod("a1", 5, 3), in("g", pod("a2", 0, 1)), in("g", pod("b1", 0, 1))},
			},
			want: "Preempt a2+b1",
		},
		"a nomination on the node is void": {
			state: placement.State{
				Nodes: []workload.Node{node("a", 4)}, Pods: []workload.Pod{pod("a1", 9, 3), pod("a2", 0, 1), pod("a3", 1, 1)},
				Nominated: []workload.Pod{pod("a4", 0, 1)},
			},
			want: "Preempt a2 -a4",
		},
		"unless the victims there are put back": {
			state: placement.State{
				Nodes: []workload.Node{node("a", 4), node("b", 1)}, Groups: []workload.PodGroup{{ID: "g", Priority: 1, DisruptionMode: workload.DisruptionModePodGroup}},
				Pods:      []workload.Pod{pod("a1", 9, 3), pod("a2", 0, 1), in("g", pod("a3", 1, 1)), pod("b1", 9, 1), in("g", pod("b2", 1, 1))},
				Nominated: []workload.Pod{pod("a4", 0, 1)},
			},
			want: "Preempt a3+b2",
		},
		"a node is emptied, also of pods that take nothing and of the highest priorities but one": {
			state: placement.State{Nodes: []workload.Node{cordoned, node("b", 4)}, Pods: []workload.Pod{
				pod("a1", 1<<31-2, 4), pod("a2", 0, 0), pod("a3", 1<<31-1, 1), pod("b1", 0, 4)}},
			ask:  settle.NodesRequest{Nodes: []string{"b"}, Empty: []string{"a"}},
			want: "Preempt a1 a2 a:1 pods",
		},
		"a minimum runtime protects from both": {
			state: placement.State{Nodes: []workload.Node{node("a", 8)}, Pods: []workload.Pod{pod("a1", 0, 4), young}},
			ask:   settle.NodesRequest{Empty: []string{"a"}},
			want:  "Preempt a1 a:1 pods more 9m0.000000001s retry 9m0.000000001s",
		},
		"hard budgets keep pods": {
			config: placement.Config{Budgets: placement.Hard},
			state: placement.State{Nodes: []workload.Node{node("a", 8)}, Budgets: []workload.DisruptionBudget{guarded},
				Pods: []workload.Pod{pod("a1", 0, 1), pod("a2", 1, 1), pod("a3", 2, 1)}},
			ask:  settle.NodesRequest{Empty: []string{"a"}},
			want: "Preempt a3 a:2 pods", // budgets are charged by importance (KEP-5710, as kube-scheduler does)
		},
		"other nodes are not asked about": {
			state: placement.State{Nodes: []workload.Node{node("a", 1), node("b", 1)}, Pods: []workload.Pod{pod("a1", 0, 2), pod("b1", 0, 2)}},
			ask:   settle.NodesRequest{Nodes: []string{"b"}},
			want:  "Preempt b1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := placement.NewSnapshot(c.state)
			if err != nil {
				t.Fatal(err)
			}
			p, err := placement.New(c.config)
			if err != nil {
				t.Fatal(err)
			}
			c.ask.Now = now
			a, err := settle.DecideNodes(p, s, c.ask)
			if err != nil {
				t.Fatal(err)
			}
			if got := toldOfNodes(a); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}
