package moves_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func toldOfClear(a moves.ClearAnswer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v", a.Outcome)
	for _, c := range a.Cleared {
		fmt.Fprintf(&b, " %s(%d)", c.Domain, c.Cost.Lost)
	}
	tellMoves(&b, a.Moves)
	for _, v := range a.Victims {
		fmt.Fprintf(&b, " yields:%s", strings.Join(v.Pods, "+"))
	}
	tellSteps(&b, a.Steps)
	for _, x := range a.Blocked {
		fmt.Fprintf(&b, " %s:%v:%s", x.Domain, x.Cause, x.Pod)
	}
	if !a.RetryAt.IsZero() {
		fmt.Fprintf(&b, " at %v", a.RetryAt.Sub(now))
	}
	return b.String()
}

func TestClear(t *testing.T) {
	only := moves.Config{Price: mustMove}
	rack := func(name string, nodes ...string) placement.Domain { return placement.Domain{Name: name, Nodes: nodes} }
	for name, c := range map[string]struct {
		state   string
		change  func(st *placement.State)
		request moves.ClearRequest
		config  moves.Config
		want    string
	}{
		"an empty node is there": {
			state: "a=4 b=4 a:v=1", request: moves.ClearRequest{Count: 1}, want: "Fits b(0)",
		},
		"the node with the fewest pods": {
			state: "a=4 b=4 a:v=1 a:u=1 b:w=2", request: moves.ClearRequest{Count: 1}, config: only,
			want: "Preempt b(0) w:b->a | -w +w",
		},
		"a drain: what has no place yields": {
			state: "a=4 b=4 a:v=2 a:u=2 b:w=2", request: moves.ClearRequest{Domains: []placement.Domain{rack("a", "a")}},
			want: "Preempt a(1) u:a->b yields:v | -u,v +u",
		},
		"moves alone are not enough": {
			state: "a=4 b=4 a:v=3 b:w=3", request: moves.ClearRequest{Count: 1}, config: only,
			want: "Impossible a:NoPlace:v b:NoPlace:w",
		},
		"a rack, then another": {
			state:   "a=4 b=4 c=4 d=4 e=4 a:v=1 b:u=1 c:w=1 d:x=1 d:y=2 e:z=1",
			request: moves.ClearRequest{Domains: []placement.Domain{rack("r1", "a", "b"), rack("r2", "c", "d"), rack("r3", "e")}, Count: 2}, config: only,
			want: "Preempt r3(0) r1(0) u:b->c v:a->c z:e->d | -u,v,z +u +v +z",
		},
		"a budget lets one go at a time": {
			state: "a=4 b=4 a:v=1 a:u=1", request: moves.ClearRequest{Domains: []placement.Domain{rack("a", "a")}}, config: only,
			change: func(st *placement.State) {
				st.Budgets = []workload.DisruptionBudget{{Namespace: "ns", Name: "b", Selector: &workload.LabelSelector{}, Allowed: 1}}
			},
			want: "Preempt a(0) u:a->b v:a->b | -u +u | -v +v",
		},
		"beside what was told to stop before": {
			state: "a=4 b=4 a:v=1 a:u=1", request: moves.ClearRequest{Domains: []placement.Domain{rack("a", "a")}}, config: only,
			change: func(st *placement.State) {
				st.Budgets = []workload.DisruptionBudget{{Namespace: "ns", Name: "b", Selector: &workload.LabelSelector{}, Allowed: 1}}
				st.Pods[0].Terminating, st.Pods[0].Preempted = true, true
			},
			want: "Impossible a:Budget:u",
		},
		"a node that lost capacity: the least important leave": {
			state: "a=4 b=4 a:v=3 a:u=2 b:w=3", request: moves.ClearRequest{Within: true},
			change: func(st *placement.State) { st.Pods[0].Priority = 9 },
			want:   "Preempt a(1) yields:u | -u",
		},
		"a node that lost capacity: what has a place moves": {
			state: "a=4 b=4 a:v=3 a:u=2 b:w=1", request: moves.ClearRequest{Within: true},
			change: func(st *placement.State) { st.Pods[0].Priority = 9 },
			want:   "Preempt a(0) u:a->b | -u +u",
		},
		"a node with more pods than it may have": {
			state: "a=4 b=4 a:v=1 a:u=1 a:w=1", request: moves.ClearRequest{Within: true},
			change: func(st *placement.State) {
				st.Nodes[0].Capacity[workload.PodsResource], st.Pods[0].Priority = 1, 9
				st.Nodes[1].Unschedulable = true
			},
			want: "Preempt a(2) yields:u yields:w | -u,w",
		},
		"no node is over": {
			state: "a=4 b=4 a:v=3", request: moves.ClearRequest{Within: true}, want: "Fits",
		},
		"what protects a pod of a node that lost capacity": {
			state: "a=4 b=4 a:v=5", request: moves.ClearRequest{Within: true},
			change: func(st *placement.State) { st.Pods[0].MinRuntime = quota.Some(2 * time.Hour) },
			want:   "Wait a:Protected:v at 1h2m0.000000001s",
		},
		"a later one has a place where this one has none": {
			state: "a=4 b=3 a:v@=3 a:u=2", request: moves.ClearRequest{Within: true}, config: only,
			change: func(st *placement.State) {
				st.Pods[0].Priority, st.Pods[1].MinRuntime = 9, quota.Some(2*time.Hour) // v, which may leave now, has no place
			},
			want: "Wait a:NoPlace:v at 1h3m0.000000001s",
		},
		"or none": {
			state: "a=4 b=4 a:v=1", request: moves.ClearRequest{Domains: []placement.Domain{rack("a", "a")}}, config: only,
			change: func(st *placement.State) {
				st.Budgets = []workload.DisruptionBudget{{Namespace: "ns", Name: "b", Selector: &workload.LabelSelector{}}}
			},
			want: "Impossible a:Budget:v",
		},
		"or fewer than must yield": {
			state: "a=4 b=4 a:v=2 a:u=2 b:w=4", request: moves.ClearRequest{Domains: []placement.Domain{rack("a", "a")}},
			change: func(st *placement.State) {
				st.Budgets = []workload.DisruptionBudget{{Namespace: "ns", Name: "b", Selector: &workload.LabelSelector{}, Allowed: 1}}
			},
			want: "Impossible a:Budget:v",
		},
		"until its minimum runtime is over": {
			state: "a=4 b=4 a:v=1", request: moves.ClearRequest{Domains: []placement.Domain{rack("a", "a")}}, config: only,
			change: func(st *placement.State) { st.Pods[0].MinRuntime = quota.Some(2 * time.Hour) },
			want:   "Wait a:Protected:v at 1h2m0.000000001s",
		},
		"a promise keeps a node": {
			state: "a=4 b=4 a:v=1", request: moves.ClearRequest{Domains: []placement.Domain{rack("b", "b")}},
			change: func(st *placement.State) { st.Nominated = []workload.Pod{{ID: "waits", Node: "b"}} },
			want:   "Impossible b:Promised:waits",
		},
		"a pod of the node stays": {
			state: "a=4 b=4 a:v=1 a:d@=1",
			request: moves.ClearRequest{
				Domains: []placement.Domain{rack("a", "a")}, Stays: func(p workload.Pod) bool { return p.ID == "d" },
			}, config: only,
			want: "Preempt a(0) v:a->b | -v +v",
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := cluster(c.state)
			if c.change != nil {
				c.change(&st)
			}
			c.request.Now = now
			s := snapshot(t, st)
			a, err := moves.Clear(nil, s, c.request, c.config)
			if err != nil {
				t.Fatal(err)
			}
			if got := toldOfClear(a); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if !a.Outcome.Succeeds() {
				return
			}
			if s, err = s.With(a.EditsWhenDone(s)...); err != nil {
				t.Fatal(err)
			}
			c.request.Now = now.Add(3 * time.Hour)
			if again, err := moves.Clear(nil, s, c.request, c.config); err != nil || len(again.Moves)+len(again.Victims) > 0 {
				t.Errorf("once cleared, there is still to do: %s, %v", toldOfClear(again), err)
			}
		})
	}
}

// As kube-scheduler is built, a pod that terminates yields with its group. The group has no place then, whatever room there is.
func TestClearOfWhatTerminates(t *testing.T) {
	p := must(placement.New(placement.Config{Mode: placement.ModeInPlace}))(t)
	st := cluster("a=4 b=4 a:v/g=1 b:u/g=1")
	st.Pods[1].Terminating = true
	a, err := moves.Clear(p, snapshot(t, st), moves.ClearRequest{Domains: []placement.Domain{{Name: "a", Nodes: []string{"a"}}}}, moves.Config{})
	if got, want := toldOfClear(a), "Preempt a(2) yields:u+v | -u,v"; err != nil || got != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}

// BenchmarkClear clears ten racks of 250, with 5,000 nodes and 85,000 pods.
func BenchmarkClear(b *testing.B) {
	const racks, perRack, perNode = 250, 20, 17
	var st placement.State
	var domains []placement.Domain
	for r := range racks {
		d := placement.Domain{Name: fmt.Sprintf("rack-%03d", r)}
		for n := range perRack {
			name := fmt.Sprintf("node-%03d-%02d", r, n)
			d.Nodes = append(d.Nodes, name)
			st.Nodes = append(st.Nodes, workload.Node{Name: name, Capacity: workload.Resources{"cpu": 20_000, "memory": 80 << 30, workload.PodsResource: 110}})
			for i := range perNode {
				cpu := int64(1000)
				if (r+n+i)%3 == 0 {
					cpu = 500 + 100*int64((r*7+i)%10)
				}
				st.Pods = append(st.Pods, workload.Pod{
					ID: fmt.Sprintf("ns/%s-%02d", name, i), Namespace: "ns", Node: name, Priority: int32(i % 5), Started: now.Add(-time.Hour),
					Requests: workload.Resources{"cpu": cpu, "memory": 2 << 30},
				})
			}
		}
		domains = append(domains, d)
	}
	s := snapshot(b, st)
	for b.Loop() {
		a, err := moves.Clear(nil, s, moves.ClearRequest{Now: now, Domains: domains, Count: 10}, moves.Config{Price: mustMove})
		if err != nil || len(a.Cleared) != 10 {
			b.Fatal(len(a.Cleared), err)
		}
	}
}

// A node of many pods is made anew once when they leave, not once for each of them: that would be 200 KB for each pod.
func TestAllocationsOfClearingACrowdedNode(t *testing.T) {
	const pods = 4_000
	st := placement.State{Nodes: []workload.Node{{Name: "full", Capacity: workload.Resources{"cpu": pods}}}}
	for i := range pods {
		st.Pods = append(st.Pods, workload.Pod{ID: fmt.Sprint(i), Node: "full", Requests: workload.Resources{"cpu": 1}})
	}
	s := must(placement.NewSnapshot(st))(t)
	var before, then runtime.MemStats
	runtime.ReadMemStats(&before)
	a := must(moves.Clear(nil, s, moves.ClearRequest{Now: now}, moves.Config{}))(t)
	if runtime.ReadMemStats(&then); then.TotalAlloc-before.TotalAlloc > pods*60_000 {
		t.Errorf("%d bytes for each pod", (then.TotalAlloc-before.TotalAlloc)/pods)
	}
	if after := must(s.With(a.EditsWhenDone(s)...))(t); len(a.Victims) != pods || len(after.State().Pods) > 0 {
		t.Errorf("%v: %d of %d pods yield, %d stay", a.Outcome, len(a.Victims), pods, len(after.State().Pods))
	}
}
