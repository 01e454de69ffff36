package topology_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/examples/topology"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

const gpu = "nvidia.com/gpu"

var now = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

// world is a cluster of two blocks of two racks of two hosts of four GPUs, and one queue.
type world struct {
	machines []workload.Node
	running  []workload.Workload
	pods     []workload.Pod
	nominal  int64
}

func newWorld(nominal int64) *world {
	w := &world{nominal: nominal}
	for i := range 8 {
		labels := map[string]string{"block": fmt.Sprintf("b%d", i/4), "rack": fmt.Sprintf("r%d", i/2%2), "host": fmt.Sprintf("h%d", i)}
		w.machines = append(w.machines, workload.Node{Name: labels["host"], Labels: labels, Capacity: workload.Resources{gpu: 4}})
	}
	return w
}

func of(id string, priority, pods, gpus int64, flavor string) workload.Workload {
	return workload.Workload{ID: id, Queue: "q", Priority: priority, Created: now, Queued: now, PodSets: []workload.PodSet{
		{Name: "main", Count: pods, Requests: []quota.Amount{{Flavor: flavor, Resource: gpu, Amount: gpus}}}}}
}

// run places a workload, one pod on each of the hosts.
func (w *world) run(id string, priority, gpus int64, hosts ...string) {
	one := of(id, priority, int64(len(hosts)), gpus, "default")
	one.ReservedAt = now
	w.running = append(w.running, one)
	for i, host := range hosts {
		w.pods = append(w.pods, workload.Pod{ID: fmt.Sprintf("%s-%d", id, i), Group: id, Node: host, Requests: workload.Resources{gpu: gpus}})
	}
}

func (w *world) cluster(t interface{ Fatal(...any) }) *topology.Cluster {
	var groups []workload.PodGroup
	for _, r := range w.running {
		groups = append(groups, workload.PodGroup{ID: r.ID, Priority: int32(r.Priority), DisruptionMode: workload.DisruptionModePodGroup})
	}
	nodes, err := placement.NewSnapshot(placement.State{Nodes: w.machines, Pods: w.pods, Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := preemption.NewSnapshot(preemption.State{Admitted: w.running, Queues: []queue.Queue{{
		Name: "q", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		Quotas: []quota.Quota{{Flavor: "default", Resource: gpu, Nominal: w.nominal}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return &topology.Cluster{Quota: snapshot, Nodes: nodes, Machines: w.machines, Levels: []string{"block", "rack", "host"}}
}

// holds reports, by counting, whether a workload of equal pods has quota and a place at a level
// without some that run.
func (w *world) holds(ask *workload.Workload, level int, without []string) bool {
	free, size := w.nominal, ask.PodSets[0].Requests[0].Amount
	for _, r := range w.running {
		if !slices.Contains(without, r.ID) {
			free -= r.PodSets[0].Count * r.PodSets[0].Requests[0].Amount
		}
	}
	if free < ask.PodSets[0].Count*size {
		return false
	}
	places := map[int]int64{} // pods by domain
	for i, m := range w.machines {
		room := m.Capacity[gpu]
		for _, p := range w.pods {
			if p.Node == m.Name && !slices.Contains(without, p.Group) {
				room -= p.Requests[gpu]
			}
		}
		places[i/(4>>level)] += max(0, room) / size
	}
	for _, n := range places {
		if n >= ask.PodSets[0].Count {
			return true
		}
	}
	return false
}

// The answer is that of trying all sets of workloads that may yield: enough, and none of them can be
// spared; and the pods have their places.
func TestAgreesWithBruteForce(t *testing.T) {
	nodes, err := placement.New(placement.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.Int64Range(8, 32).Draw(t, "nominal"))
		free := map[string]int64{}
		for i := range rapid.IntRange(0, 7).Draw(t, "running") {
			gpus := rapid.Int64Range(1, 4).Draw(t, "gpus")
			var hosts []string
			for _, h := range rapid.SliceOfN(rapid.IntRange(0, 7), 1, 3).Draw(t, "hosts") {
				if name := fmt.Sprintf("h%d", h); free[name]+gpus <= 4 {
					free[name] += gpus
					hosts = append(hosts, name)
				}
			}
			if len(hosts) > 0 {
				w.run(fmt.Sprintf("w%d", i), rapid.Int64Range(0, 3).Draw(t, "priority"), gpus, hosts...)
			}
		}
		ask := of("new", 2, rapid.Int64Range(1, 5).Draw(t, "pods"), rapid.Int64Range(1, 4).Draw(t, "size"), "")
		level := rapid.IntRange(0, 2).Draw(t, "level")
		c := w.cluster(t)
		got, err := c.Decide(nil, nodes, ask, c.Levels[level], now)
		if err != nil {
			t.Fatal(err)
		}

		var may, victims []string
		for _, r := range w.running {
			if r.Priority < ask.Priority {
				may = append(may, r.ID)
			}
		}
		for _, v := range got.Victims {
			victims = append(victims, v.Workload)
		}
		anySet := false
		for set := range 1 << len(may) {
			var without []string
			for i, id := range may {
				if set>>i&1 == 1 {
					without = append(without, id)
				}
			}
			anySet = anySet || w.holds(&ask, level, without)
		}
		want := preemption.Impossible
		switch {
		case w.holds(&ask, level, nil):
			want = preemption.Fits
		case anySet:
			want = preemption.Preempt
		}
		if got.Outcome != want {
			t.Fatalf("%v, want %v", got.Outcome, want)
		}
		if want == preemption.Impossible {
			return
		}
		if !w.holds(&ask, level, victims) {
			t.Fatalf("%v are not enough", victims)
		}
		for i, id := range victims {
			if !slices.Contains(may, id) || w.holds(&ask, level, slices.Delete(slices.Clone(victims), i, i+1)) {
				t.Fatalf("%s of %v need not yield", id, victims)
			}
		}
		w.checkPlaces(t, c, &ask, level, victims, got.Nominations)
	})
}

// checkPlaces checks that all pods have room, in one place.
func (w *world) checkPlaces(t *rapid.T, c *topology.Cluster, ask *workload.Workload, level int, victims []string, places []placement.Nomination) {
	if int64(len(places)) != ask.PodSets[0].Count {
		t.Fatalf("%d places: %v", len(places), places)
	}
	domains, err := c.Domains(c.Levels[level])
	if err != nil {
		t.Fatal(err)
	}
	inOne := slices.ContainsFunc(domains, func(d placement.Domain) bool {
		return !slices.ContainsFunc(places, func(n placement.Nomination) bool { return !slices.Contains(d.Nodes, n.Node) })
	})
	used := map[string]int64{}
	for _, p := range w.pods {
		if !slices.Contains(victims, p.Group) {
			used[p.Node] += p.Requests[gpu]
		}
	}
	for _, n := range places {
		used[n.Node] += ask.PodSets[0].Requests[0].Amount
	}
	for node, n := range used {
		if n > 4 {
			t.Fatalf("%d GPUs on %s", n, node)
		}
	}
	if !inOne {
		t.Fatalf("not in one %s: %v", c.Levels[level], places)
	}
}

// Quota would do with any victim. In one block "spread" helps, which matters least; in one rack it
// does not: the other half of each of its racks is held by "serving".
func Example() {
	w := newWorld(32)
	w.run("spread", 0, 4, "h0", "h2")
	w.run("compact", 1, 4, "h4", "h5")
	w.run("serving", 5, 4, "h1", "h3", "h6")
	c := w.cluster(fatal{})
	nodes, err := placement.New(placement.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ask := range []struct {
		pods  int64
		level string
	}{{1, "host"}, {2, "block"}, {2, "rack"}, {2, "host"}} {
		a, err := c.Decide(nil, nodes, of("new", 3, ask.pods, 4, ""), ask.level, now)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d pods in one %s: %v", ask.pods, ask.level, a.Outcome)
		for _, v := range a.Victims {
			fmt.Printf(", without %s", v.Workload)
		}
		for _, n := range a.Nominations {
			fmt.Printf(", on %s", n.Node)
		}
		fmt.Println()
	}
	_, err = c.Domains("row")
	fmt.Println(err)
	// Output:
	// 1 pods in one host: Fits, on h7
	// 2 pods in one block: Preempt, without spread, on h0, on h2
	// 2 pods in one rack: Preempt, without compact, on h4, on h5
	// 2 pods in one host: Impossible
	// level "row": want one of block, rack, host
}

type fatal struct{}

func (fatal) Fatal(why ...any) { panic(fmt.Sprint(why...)) }

// Of an elastic workload on a block one replica yields, the last by ID, and its host is the place. Without
// pod sets the whole workload yields.
func TestReplicasMakeRoom(t *testing.T) {
	w := newWorld(32)
	w.run("elastic", 0, 4, "h0", "h1", "h2", "h3")
	w.run("stays", 9, 4, "h4", "h5", "h6", "h7")
	w.running[0].PodSets[0].MinCount = workload.AtLeast(1)
	c := w.cluster(t)
	for _, known := range []bool{false, true} {
		if known {
			c.PodSet = func(workload.Pod) string { return "main" }
		}
		answer, err := c.Decide(new(preemption.Preemptor), new(placement.Preemptor), of("ask", 5, 1, 4, "default"), "host", now)
		if err != nil || len(answer.Victims) != 1 {
			t.Fatal(err, answer)
		}
		if v := answer.Victims[0]; known != (len(v.Replicas) == 1 && v.Replicas[0].Count == 1) {
			t.Errorf("pod sets known %t: %+v yields", known, v)
		}
		if at := answer.Nominations[0].Node; known && at != "h3" {
			t.Errorf("on %s, want h3", at)
		}
	}
}
