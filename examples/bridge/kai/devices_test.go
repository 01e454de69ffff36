package kai_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// aPod draws a pod of whole GPUs, or one that takes a part, perhaps of a GPU that is known.
func aPod(t *rapid.T, id string) workload.Pod {
	p := workload.Pod{ID: id, Node: rapid.SampledFrom([]string{"labelled", "plain"}).Draw(t, "node"), Requests: workload.Resources{}, Labels: map[string]string{}}
	switch rapid.SampledFrom([]string{"whole", "fraction", "memory"}).Draw(t, "kind") {
	case "whole":
		p.Requests[kai.GPU] = 1000 * rapid.Int64Range(0, 2).Draw(t, "GPUs")
		return p
	case "fraction":
		p.Labels["gpu-fraction"] = rapid.SampledFrom([]string{"0.1", "0.125", "0.29", "0.5", "0.6", "0.999"}).Draw(t, "fraction")
	default:
		p.Labels["gpu-memory"] = rapid.SampledFrom([]string{"20", "100", "4000", "40500", "81500"}).Draw(t, "memory")
	}
	if device := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "device"); device != "" {
		p.Labels["runai-gpu-group"] = p.Node + "/" + device
	}
	return p
}

func nodesWith(t *rapid.T, pods []workload.Pod) (*placement.Snapshot, []workload.Node) {
	nodes := []workload.Node{{Name: "labelled", Capacity: workload.Resources{kai.GPU: 3000}, Labels: map[string]string{"nvidia.com/gpu.memory": "81559"}},
		{Name: "plain", Capacity: workload.Resources{kai.GPU: 2000}}}
	s, err := placement.NewSnapshot(placement.State{Nodes: nodes, Pods: pods})
	if err != nil {
		t.Fatal(err)
	}
	return s, nodes
}

// The laws of a trial: an answer depends on who is there alone. And those of GPUs: what has room beside others has room beside fewer, and who
// may share one may have it alone.
func TestDevicesAreATrial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var there, away []workload.Pod
		for i := range rapid.IntRange(0, 8).Draw(t, "pods") {
			there = append(there, aPod(t, fmt.Sprint("p", i)))
		}
		on, nodes := nodesWith(t, there)
		trial := kai.Devices{}.Begin(on, placement.Request{})
		for range rapid.IntRange(0, 10).Draw(t, "steps") {
			from, to, change := &there, &away, trial.Remove
			if len(there) == 0 || len(away) > 0 && rapid.Bool().Draw(t, "add") {
				from, to, change = &away, &there, trial.Add
			}
			if len(*from) == 0 {
				continue
			}
			at := rapid.IntRange(0, len(*from)-1).Draw(t, "who")
			p := (*from)[at]
			change(p)
			*from, *to = slices.Delete(slices.Clone(*from), at, at+1), append(*to, p)
		}
		asks := aPod(t, "asks")
		on, _ = nodesWith(t, there)
		none, _ := nodesWith(t, nil)
		for _, n := range nodes {
			asks.Node = n.Name
			got := trial.Allows(asks, n)
			if want := (kai.Devices{}).Begin(on, placement.Request{}).Allows(asks, n); got != want || trial.Allows(asks, n) != got {
				t.Fatalf("on %s: %v after steps, %v begun", n.Name, got, want)
			}
			if got && !(kai.Devices{}).Begin(none, placement.Request{}).Allows(asks, n) {
				t.Fatalf("on %s: allowed beside others, and not alone", n.Name)
			}
		}
	})
}

// What the GPUs of a node have room for.
func TestDevices(t *testing.T) {
	part := func(id, of, device string) workload.Pod {
		p := workload.Pod{ID: id, Node: "n", Labels: map[string]string{"gpu-fraction": of}}
		if device != "" {
			p.Labels["runai-gpu-group"] = device
		}
		return p
	}
	whole := func(n int64) workload.Pod {
		return workload.Pod{ID: "whole", Node: "n", Requests: workload.Resources{kai.GPU: n * 1000}}
	}
	for _, c := range []struct {
		name   string
		runs   []workload.Pod
		asks   workload.Pod
		allows bool
	}{
		{"empty", nil, whole(2), true},
		{"one is shared", []workload.Pod{part("a", "0.5", "n/x")}, whole(2), false},
		{"another is empty", []workload.Pod{part("a", "0.5", "n/x"), part("b", "0.5", "n/x")}, whole(1), true},
		{"both are shared", []workload.Pod{part("a", "0.5", "n/x"), part("b", "0.5", "n/y")}, whole(1), false},
		{"a part beside both", []workload.Pod{part("a", "0.5", "n/x"), part("b", "0.5", "n/y")}, part("c", "0.5", ""), true},
		{"sums have room", []workload.Pod{part("a", "0.5", "n/x"), part("b", "0.5", "n/y")}, part("c", "0.51", ""), false},
		{"beside a whole one", []workload.Pod{whole(1), part("b", "0.5", "n/y")}, part("c", "0.6", ""), false},
		{"those without a GPU share one", []workload.Pod{part("a", "0.5", ""), part("b", "0.5", "")}, whole(1), true},
		{"they share one with room", []workload.Pod{part("a", "0.4", "n/x"), part("b", "0.6", "")}, whole(1), true},
		{"one that has moved", []workload.Pod{part("a", "0.5", "other/x"), part("b", "0.5", "n/x")}, whole(1), true},
		{"no GPUs are asked for", []workload.Pod{whole(2)}, whole(0), true},
	} {
		s, err := placement.NewSnapshot(placement.State{Nodes: []workload.Node{{Name: "n", Capacity: workload.Resources{kai.GPU: 2000}}}, Pods: c.runs})
		if err != nil {
			t.Fatal(err)
		}
		c.asks.ID = "asks"
		if got := (kai.Devices{}).Begin(s, placement.Request{}).Allows(c.asks, workload.Node{Name: "n"}); got != c.allows {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
