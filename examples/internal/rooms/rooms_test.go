package rooms_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/preemption"
)

// world is two racks of two hosts with 4 GPUs and room for 5 pods each, and a queue.
type world struct {
	nominal int
	ready   [4]bool
	others  [4]int // GPUs of a pod that Kueue did not place
	runs    []run
}

// run is a workload: a GPU number a pod, and its pods by host.
type run struct {
	priority, gpus int
	hosts          []int
}

const item = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":%q,"metadata":{"name":%q,"namespace":"n"},"spec":%s,"status":%s}`

// json is the world as objects, with a workload that waits.
func (w *world) json(asks run, count int, request string) string {
	list := []string{
		fmt.Sprintf(item, "Topology", "tree", `{"levels":[{"nodeLabel":"rack"},{"nodeLabel":"kubernetes.io/hostname"}]}`, "{}"),
		fmt.Sprintf(item, "ResourceFlavor", "f", `{"topologyName":"tree"}`, "{}"),
		fmt.Sprintf(item, "ClusterQueue", "q", fmt.Sprintf(`{"namespaceSelector":{},"preemption":{"withinClusterQueue":"LowerPriority"},"resourceGroups":[{"coveredResources":["gpu"],"flavors":[{"name":"f","resources":[{"name":"gpu","nominalQuota":%d}]}]}]}`, w.nominal), "{}"),
		fmt.Sprintf(item, "LocalQueue", "lq", `{"clusterQueue":"q"}`, "{}"),
		fmt.Sprintf(item, "Workload", "new", fmt.Sprintf(`{"queueName":"lq","priority":%d,"podSets":[{"name":"main","count":%d,"topologyRequest":%s,"template":{"spec":{"containers":[{"resources":{"requests":{"gpu":%d}}}]}}}]}`, asks.priority, count, request, asks.gpus), "{}"),
	}
	for i, ready := range w.ready {
		list = append(list, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"h%d","labels":{"rack":"r%d","kubernetes.io/hostname":"h%d"}},"status":{"allocatable":{"gpu":4,"pods":5},"conditions":[{"type":"Ready","status":%q}]}}`, i, i/2, i, map[bool]string{true: "True", false: "False"}[ready]),
			fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"o%d","namespace":"n"},"spec":{"priority":0,"nodeName":"h%d","containers":[{"resources":{"requests":{"gpu":%d}}}]}}`, i, i, w.others[i]))
	}
	for i, r := range w.runs {
		var domains []string
		for _, host := range r.hosts {
			domains = append(domains, fmt.Sprintf(`{"values":["h%d"],"count":1}`, host))
		}
		list = append(list, fmt.Sprintf(item, "Workload", fmt.Sprint("w", i), fmt.Sprintf(`{"queueName":"lq","priority":%d,"podSets":[{"name":"main","count":%d}]}`, r.priority, len(r.hosts)),
			fmt.Sprintf(`{"conditions":[{"type":"QuotaReserved","status":"True","lastTransitionTime":"2026-11-20T08:00:00Z"}],"admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","count":%d,"flavors":{"gpu":"f"},"resourceUsage":{"gpu":%d},"topologyAssignment":{"levels":["kubernetes.io/hostname"],"domains":[%s]}}]}}`,
				len(r.hosts), len(r.hosts)*r.gpus, strings.Join(domains, ","))))
	}
	return `{"kind":"List","apiVersion":"v1","items":[` + strings.Join(list, ",") + `]}`
}

// holds reports, by counting as Kueue does, whether so many pods have quota and a place without some that run.
func (w *world) holds(asks run, count int, oneRack bool, without int) bool {
	free := w.nominal
	var gpus, pods [4]int
	for i := range gpus {
		gpus[i], pods[i] = 4-w.others[i], 4
	}
	for i, r := range w.runs {
		if without>>i&1 == 1 {
			continue
		}
		free -= len(r.hosts) * r.gpus
		for _, host := range r.hosts {
			gpus[host] -= r.gpus
			pods[host]--
		}
	}
	var racks [2]int
	for i := range gpus {
		if w.ready[i] {
			racks[i/2] += min(gpus[i]/asks.gpus, pods[i])
		}
	}
	return count*asks.gpus <= free && (max(racks[0], racks[1]) >= count || !oneRack && racks[0]+racks[1] >= count)
}

// The answer is that of trying all sets of workloads that may yield; the victims are enough, and none of them
// can be spared.
func TestAgreesWithBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world{nominal: rapid.IntRange(4, 20).Draw(t, "nominal")}
		var gpus, pods [4]int
		for i := range w.ready {
			w.ready[i] = rapid.IntRange(0, 5).Draw(t, "ready") > 0
			w.others[i] = rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "others")
			gpus[i], pods[i] = 4-w.others[i], 4
		}
		for range rapid.IntRange(0, 5).Draw(t, "runs") {
			r := run{priority: rapid.IntRange(0, 4).Draw(t, "priority"), gpus: rapid.IntRange(1, 3).Draw(t, "gpus")}
			for _, host := range rapid.SliceOfNDistinct(rapid.IntRange(0, 3), 1, 3, rapid.ID[int]).Draw(t, "hosts") {
				if gpus[host] >= r.gpus && pods[host] > 0 {
					gpus[host] -= r.gpus
					pods[host]--
					r.hosts = append(r.hosts, host)
				}
			}
			if len(r.hosts) > 0 {
				w.runs = append(w.runs, r)
			}
		}
		asks, count := run{priority: 2, gpus: rapid.IntRange(1, 4).Draw(t, "asked")}, rapid.IntRange(1, 6).Draw(t, "count")
		request := rapid.SampledFrom([]string{`{"required":"rack"}`, `{"preferred":"rack"}`, `{"unconstrained":true}`, `null`}).Draw(t, "request")
		oneRack := strings.Contains(request, "required")

		d := decide(t, w.json(asks, count, request))
		may, any := 0, false
		for i, r := range w.runs {
			if r.priority < asks.priority {
				may |= 1 << i
			}
		}
		for set := range 1 << len(w.runs) {
			any = any || set&^may == 0 && w.holds(asks, count, oneRack, set)
		}
		want := preemption.Impossible
		switch {
		case w.holds(asks, count, oneRack, 0):
			want = preemption.Fits
		case any:
			want = preemption.Preempt
		}
		if d.Outcome != want {
			t.Fatalf("%v, want %v: %+v", d.Outcome, want, w)
		}
		set := 0
		for _, v := range d.Victims {
			set |= 1 << (v.Workload[len(v.Workload)-1] - '0')
		}
		if want == preemption.Preempt && (set&^may != 0 || !w.holds(asks, count, oneRack, set)) {
			t.Fatalf("%v are not enough, or may not yield: %+v", answers.VictimNames(d.Victims), w)
		}
		for i := range w.runs {
			if set>>i&1 == 1 && w.holds(asks, count, oneRack, set&^(1<<i)) {
				t.Fatalf("w%d of %v need not yield: %+v", i, answers.VictimNames(d.Victims), w)
			}
		}
	})
}

// decide decides about what waits in a cluster, with its room, and fails if something is unknown.
func decide(t *rapid.T, text string) preemption.Decision {
	if !json.Valid([]byte(text)) {
		t.Fatal(text)
	}
	nodes := new(rooms.Nodes)
	in, err := answers.ReadBeside([]objects.Source{{Name: "world", Reader: strings.NewReader(text)}}, "", nodes.Add)
	if err != nil {
		t.Fatal(err)
	}
	c := answers.Cluster{Input: in, Now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	if c.Snapshot, err = preemption.NewSnapshot(in.State); err == nil {
		c.Preemptor, err = preemption.New(c.Config)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := c.Waiting(nil)[0]
	if err := rooms.New(&c, nodes).Place(&w); err != nil {
		t.Fatal(err)
	}
	d, err := c.Preemptor.Decide(c.Snapshot, w.Request)
	if err != nil {
		t.Fatal(err)
	}
	if w.Request.Room == nil && d.Outcome != preemption.Impossible || !slices.Contains([]string{"Fits", "Preempt", "Impossible"}, w.Verdict(&d).Outcome) {
		t.Fatalf("%+v, %+v", w.Verdict(&d), w)
	}
	return d
}
