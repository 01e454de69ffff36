package room_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// world is a small cluster and a request of priority 5 about it.
type world struct {
	state  state.State
	config ask.Config
	asks   ask.Request
}

func draw(t *rapid.T) world {
	var w world
	amount := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
		capacity := workload.Resources{"cpu": amount("cpu", 12), "gpu": amount("gpus", 6), "memory": 5}
		if rapid.Bool().Draw(t, "pods are limited") {
			capacity[workload.PodsResource] = 2 + amount("pods", 6)
		}
		w.state.Nodes = append(w.state.Nodes, workload.Node{Name: fmt.Sprint("n", i), Capacity: capacity})
	}
	pod := func(id string) workload.Pod {
		p := workload.Pod{ID: id, UID: id, Node: fmt.Sprint("n", rapid.IntRange(0, len(w.state.Nodes)-1).Draw(t, "node")),
			Priority: int32(rapid.IntRange(0, 6).Draw(t, "priority")), Requests: workload.Resources{"cpu": amount("takes", 3)}}
		if rapid.Bool().Draw(t, "takes GPUs") {
			p.Requests["gpu"] = amount("GPUs", 3)
		}
		return p
	}
	for i := range rapid.IntRange(0, 8).Draw(t, "pods") {
		p := pod(fmt.Sprint("p", i))
		if p.Terminating = rapid.IntRange(0, 4).Draw(t, "leaves") == 0; p.Terminating {
			p.Preempted = rapid.Bool().Draw(t, "preempted")
		}
		w.state.Pods = append(w.state.Pods, p)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "nominated") {
		w.state.Nominated = append(w.state.Nominated, pod(fmt.Sprint("w", i)))
	}
	w.config.Mode = rapid.SampledFrom([]ask.Mode{ask.Design, ask.InPlace}).Draw(t, "mode")
	w.asks = ask.Request{Priority: 5, MinCount: 1, Pods: []workload.Pod{{ID: "w0", Priority: 5, Requests: workload.Resources{"cpu": 1 + amount("needs", 5), "gpu": amount("needs of GPUs", 3)}}}}
	return w
}

func (w *world) open(t *rapid.T) (*state.Cluster, *room.Room) {
	c, err := state.New(&w.state)
	if err != nil {
		t.Fatal(err)
	}
	r := &room.Room{}
	r.Begin(&w.config, c, &w.asks)
	return c, r
}

// left is what a node has left of a resource beside the pods that hold.
func (w *world) left(n *workload.Node, resource string, holds func(*workload.Pod) bool) int64 {
	takes := func(p *workload.Pod) int64 {
		if resource == workload.PodsResource {
			return 1
		}
		return p.Requests[resource]
	}
	free, limited := n.Capacity[resource], true
	if resource == workload.PodsResource {
		_, limited = n.Capacity[resource]
	}
	if !limited {
		return math.MaxInt64
	}
	for i := range w.state.Pods {
		if p := &w.state.Pods[i]; p.Node == n.Name && holds(p) {
			free -= takes(p)
		}
	}
	for i := range w.state.Nominated { // of at least the priority of the request, and no pod of it
		if p := &w.state.Nominated[i]; p.Node == n.Name && p.Priority >= w.asks.Priority && p.ID != w.asks.Pods[0].ID {
			free -= takes(p)
		}
	}
	return free
}

// What is free on a node at a floor is its capacity without the pods over the floor, those that the request may not take, and
// those that stay. A node that is full by its sums has no room by these either.
func TestFreeOn(t *testing.T) {
	counted, full := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		c, r := w.open(t)
		defer r.End()
		stays := map[string]bool{}
		if units := c.Units(); len(units) > 0 && rapid.Bool().Draw(t, "one stays") {
			if u := units[len(units)-1]; u.Priority < w.asks.Priority && r.UnitOf(u.Pods[0]) == u {
				r.Stay(u)
				for _, p := range u.Pods {
					stays[p.Facts.ID] = true
				}
			}
		}
		design := w.config.Mode == ask.Design
		for range 3 {
			floor, now := rapid.Int64Range(-1, 4).Draw(t, "floor"), rapid.Bool().Draw(t, "now")
			r.Open(floor, now)
			there := func(p *workload.Pod) bool {
				if p.Terminating && design {
					return now || !p.Preempted && p.Priority >= w.asks.Priority
				}
				return p.Priority >= w.asks.Priority || int64(p.Priority) > floor || stays[p.ID]
			}
			needs := r.Needs(w.asks.Pods[0].Requests)
			for i, n := range r.Nodes {
				isFull := r.IsFull(i, needs)
				free, lacks := r.FreeOn(i), false
				for slot, resource := range r.Slots {
					want := w.left(&n.Facts, resource, there)
					if want != math.MaxInt64 && free[slot] != want {
						t.Fatalf("%s of %s at floor %d, now %t: %d free, want %d", resource, n.Facts.Name, floor, now, free[slot], want)
					}
					lacks = lacks || needs[slot] > 0 && want < needs[slot]
					counted++
				}
				if isFull && !lacks {
					t.Fatalf("%s at floor %d, now %t, is full by its sums, but has room", n.Facts.Name, floor, now)
				}
				if isFull {
					full++
				}
			}
			if r.Cost.Opened == 0 {
				t.Fatal("nothing is counted")
			}
		}
	})
	if !testing.Short() && (counted == 0 || full == 0) {
		t.Errorf("%d amounts, %d full nodes", counted, full)
	}
}

// No set of pods of lower priority that makes room for the needs of all members together is better than the bounds say.
func TestLeastVictimsIsABound(t *testing.T) {
	bounded := 0
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		for i := range w.state.Pods {
			w.state.Pods[i].Terminating, w.state.Pods[i].Preempted = false, false
		}
		_, r := w.open(t)
		defer r.End()
		members := rapid.IntRange(1, 4).Draw(t, "members")
		needs := r.Needs(w.asks.Pods[0].Requests)
		for slot := range needs {
			needs[slot] *= int64(members)
		}
		weight := func(priority int32) int64 { return 10 + int64(priority) }
		b := r.LeastVictims(r.Domains[0], needs, weight)
		if b.Pods > 0 {
			bounded++
		}
		var may []*workload.Pod
		for i := range w.state.Pods {
			if p := &w.state.Pods[i]; p.Priority < w.asks.Priority {
				may = append(may, p)
			}
		}
		for set := range 1 << len(may) {
			gone, pods, highest, sum := map[string]bool{}, int64(0), int32(math.MinInt32), int64(0)
			for k, p := range may {
				if set>>k&1 == 1 {
					gone[p.ID] = true
					pods, highest, sum = pods+1, max(highest, p.Priority), sum+weight(p.Priority)
				}
			}
			enough := true
			for slot, resource := range r.Slots {
				all := int64(0)
				for i := range w.state.Nodes {
					if left := w.left(&w.state.Nodes[i], resource, func(p *workload.Pod) bool { return !gone[p.ID] }); left == math.MaxInt64 || all == math.MaxInt64 {
						all = math.MaxInt64
					} else {
						all += max(0, left)
					}
				}
				enough = enough && all >= needs[slot]
			}
			if enough && (pods < b.Pods || b.Pods > 0 && (highest < b.Highest || sum < b.Sum)) {
				t.Fatalf("%v make room, %d pods of priority up to %d that weigh %d; the bounds are %+v", gone, pods, highest, sum, b)
			}
		}
	})
	if !testing.Short() && bounded == 0 {
		t.Error("no bound is over zero")
	}
}
