package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/examples/playground/model"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
)

// kaiSituation is a cluster, and what is said about its groups that wait, each asked about alone.
type kaiSituation struct {
	name  string
	build func(*ofKAI)
	// want is by group: fits, no, or the victims, with the number of replicas where it is not the whole.
	want map[string]string
}

// department adds the queue above leaves, and the leaves, the oldest first.
func department(k *ofKAI, gpus int, leaves ...kaiQueue) {
	k.queue(kaiQueue{name: "dept", gpu: -1, weight: 1, cpu: -1})
	for i, q := range leaves {
		q.parent, q.age = "dept", len(leaves)-i
		if q.cpu == 0 {
			q.cpu = -1
		}
		k.queue(q)
	}
	if gpus > 0 {
		k.node("gpu-node-eu-01", gpus)
	}
}

const oneNode = "gpu-node-eu-01"

// The situations of KAI with the answers of its own code (d5bc503a). Where KAI takes more than it needs, as it puts nothing back, the
// victims here are those that remain when the others are put back; the line says so.
var kaiSituations = []kaiSituation{
	{"1 quick start", func(k *ofKAI) {
		k.queue(kaiQueue{name: "default-parent-queue", weight: 1})
		k.queue(kaiQueue{name: "default-queue", parent: "default-parent-queue", weight: 1})
		k.node(oneNode, 4)
		k.job(kaiJob{name: "train", queue: "default-queue", age: 9})
		k.job(kaiJob{name: "build", queue: "default-queue", class: "build", age: 8})
	}, map[string]string{"train": "fits", "build": "no"}},
	{"2 two leaves without quota", func(k *ofKAI) {
		k.queue(kaiQueue{name: "default-parent-queue", weight: 1})
		k.queue(kaiQueue{name: "dq", parent: "default-parent-queue", weight: 1, age: 2})
		k.queue(kaiQueue{name: "eq", parent: "default-parent-queue", weight: 1, age: 1})
		k.node(oneNode, 4)
		k.jobs(4, kaiJob{name: "d", queue: "dq", node: oneNode, age: 90})
		k.jobs(4, kaiJob{name: "e", queue: "eq", age: 40})
	}, map[string]string{"e0": "d3", "e1": "d3", "e2": "d3", "e3": "d3"}},
	{"3 starved", func(k *ofKAI) {
		department(k, 8, kaiQueue{name: "a", gpu: 4, weight: 1}, kaiQueue{name: "b", gpu: 4, weight: 1})
		k.jobs(8, kaiJob{name: "b", queue: "b", node: oneNode, age: 90})
		k.job(kaiJob{name: "gang", queue: "a", pods: 2, min: 2, age: 5})
	}, map[string]string{"gang": "b6 b7"}},
	{"4 weights", func(k *ofKAI) {
		department(k, 8, kaiQueue{name: "a", weight: 3}, kaiQueue{name: "b", weight: 1})
		k.jobs(8, kaiJob{name: "b", queue: "b", node: oneNode, age: 90})
		k.jobs(8, kaiJob{name: "a", queue: "a", age: 40})
	}, map[string]string{"a0": "b7", "a7": "b7"}},
	{"4 weights, as one gang of six", func(k *ofKAI) {
		department(k, 8, kaiQueue{name: "a", weight: 3}, kaiQueue{name: "b", weight: 1})
		k.jobs(8, kaiJob{name: "b", queue: "b", node: oneNode, age: 90})
		k.job(kaiJob{name: "six", queue: "a", pods: 8, min: 6, age: 5})
		k.job(kaiJob{name: "seven", queue: "a", pods: 7, min: 7, age: 4})
	}, map[string]string{"six": "b2 b3 b4 b5 b6 b7", "seven": "no"}},
	{"5 remainder", func(k *ofKAI) {
		department(k, 8, kaiQueue{name: "a", weight: 1}, kaiQueue{name: "b", weight: 1}, kaiQueue{name: "c", weight: 1})
		k.jobs(8, kaiJob{name: "a", queue: "a", age: 40})
		k.jobs(8, kaiJob{name: "b", queue: "b", age: 40})
		k.jobs(8, kaiJob{name: "c", queue: "c", age: 40})
	}, map[string]string{"a0": "fits", "b0": "fits", "c0": "fits"}},
	{"6 idle room does not help the non-preemptible", func(k *ofKAI) {
		department(k, 6, kaiQueue{name: "a", gpu: 2, weight: 1})
		k.job(kaiJob{name: "gang", queue: "a", class: "build", pods: 2, min: 2, node: oneNode, age: 90})
		k.job(kaiJob{name: "inference", queue: "a", class: "inference", age: 8})
		k.job(kaiJob{name: "train", queue: "a", age: 7})
	}, map[string]string{"train": "fits", "inference": "no"}},
	{"7 within the department", func(k *ofKAI) {
		k.queue(kaiQueue{name: "d1", gpu: 2, weight: 1, cpu: -1, age: 9})
		k.queue(kaiQueue{name: "d2", gpu: 2, weight: 1, cpu: -1, age: 8})
		k.queue(kaiQueue{name: "a", parent: "d1", gpu: 1, weight: 1, cpu: -1, age: 7})
		k.queue(kaiQueue{name: "x", parent: "d1", gpu: 1, weight: 1, cpu: -1, age: 6})
		k.queue(kaiQueue{name: "y", parent: "d2", gpu: 2, weight: 1, cpu: -1, age: 5})
		k.node(oneNode, 4)
		k.jobs(3, kaiJob{name: "x", queue: "x", node: oneNode, age: 90})
		k.job(kaiJob{name: "y", queue: "y", node: oneNode, age: 80})
		k.job(kaiJob{name: "a", queue: "a", age: 5})
	}, map[string]string{"a": "x2"}},
	{"8 the department's runtime", func(k *ofKAI) {
		k.queue(kaiQueue{name: "d1", gpu: 2, weight: 1, cpu: -1, age: 9})
		k.queue(kaiQueue{name: "d2", gpu: 2, weight: 1, cpu: -1, age: 8})
		k.queue(kaiQueue{name: "a", parent: "d1", gpu: 2, weight: 1, cpu: -1, age: 7})
		k.queue(kaiQueue{name: "b", parent: "d2", gpu: 2, weight: 1, cpu: -1, age: 6, reclaim: "10m"})
		k.node(oneNode, 4)
		k.jobs(4, kaiJob{name: "b", queue: "b", node: oneNode, age: 90, started: 1})
		k.job(kaiJob{name: "a", queue: "a", age: 5})
	}, map[string]string{"a": "b3"}},
	{"9 surplus", func(k *ofKAI) {
		department(k, 8, kaiQueue{name: "a", gpu: 4, weight: 1}, kaiQueue{name: "b", gpu: 4, weight: 1})
		k.job(kaiJob{name: "elastic", queue: "b", pods: 8, min: 4, node: oneNode, age: 90})
		k.job(kaiJob{name: "gang", queue: "a", pods: 2, min: 2, age: 5})
	}, map[string]string{"gang": "elastic:2"}},
	{"10 surplus is not enough", func(k *ofKAI) {
		department(k, 8, kaiQueue{name: "a", gpu: 4, weight: 1}, kaiQueue{name: "b", gpu: 4, weight: 1})
		k.job(kaiJob{name: "elastic", queue: "b", pods: 8, min: 6, node: oneNode, age: 90})
		k.job(kaiJob{name: "gang", queue: "a", pods: 4, min: 4, age: 5})
	}, map[string]string{"gang": "elastic"}},
	{"11 a protected one is passed over", func(k *ofKAI) {
		department(k, 4, kaiQueue{name: "a", gpu: 2, weight: 1}, kaiQueue{name: "b", gpu: 2, weight: 1, reclaim: "10m"})
		for i, started := range []int{60, 60, 1, 60} {
			k.job(kaiJob{name: fmt.Sprint("b", i), queue: "b", node: oneNode, age: 100 - i, started: started})
		}
		k.job(kaiJob{name: "gang", queue: "a", pods: 2, min: 2, age: 5})
	}, map[string]string{"gang": "b1 b3"}},
	{"11 by the scheduler's default", func(k *ofKAI) {
		k.add("kai.scheduler/v1", "SchedulingShard", map[string]any{"name": "default"}, map[string]any{"minRuntime": map[string]any{"reclaimMinRuntime": "10m", "preemptMinRuntime": "0s"}}, map[string]any{})
		department(k, 4, kaiQueue{name: "a", gpu: 2, weight: 1}, kaiQueue{name: "b", gpu: 2, weight: 1})
		for i, started := range []int{60, 60, 1, 60} {
			k.job(kaiJob{name: fmt.Sprint("b", i), queue: "b", node: oneNode, age: 100 - i, started: started})
		}
		k.job(kaiJob{name: "gang", queue: "a", pods: 2, min: 2, age: 5})
	}, map[string]string{"gang": "b1 b3"}},
	{"12 two nodes", func(k *ofKAI) {
		department(k, 0, kaiQueue{name: "a", gpu: 4, weight: 1}, kaiQueue{name: "b", weight: 1})
		k.node("n1", 2)
		k.node("n2", 2)
		for i, node := range []string{"n1", "n1", "n2", "n2"} {
			k.job(kaiJob{name: fmt.Sprint("b", i), queue: "b", node: node, age: 90 - i})
		}
		k.job(kaiJob{name: "gang", queue: "a", pods: 2, min: 2, gpus: 2, age: 5})
	}, map[string]string{"gang": "b0 b1 b2 b3"}},
	{"13 guaranteed", func(k *ofKAI) { threeNodes(k, -1) }, map[string]string{"a": "one"}},
	{"13 without quota of CPU", func(k *ofKAI) { threeNodes(k, 0) }, map[string]string{"a": "no"}},
	{"14 in the own queue", func(k *ofKAI) {
		department(k, 2, kaiQueue{name: "a", gpu: 1, weight: 1})
		k.jobs(2, kaiJob{name: "t", queue: "a", node: oneNode, age: 90})
		k.job(kaiJob{name: "build0", queue: "a", class: "build", age: 8})
		k.job(kaiJob{name: "build1", queue: "a", class: "build", age: 7})
		k.job(kaiJob{name: "train", queue: "a", age: 6})
	}, map[string]string{"build0": "t1", "build1": "t1", "train": "no"}}, // KAI serves build0 first; then build1 would exceed the quota
	{"14 after the first", func(k *ofKAI) {
		department(k, 2, kaiQueue{name: "a", gpu: 1, weight: 1})
		k.job(kaiJob{name: "t0", queue: "a", node: oneNode, age: 90})
		k.job(kaiJob{name: "build0", queue: "a", class: "build", node: oneNode, age: 8})
		k.job(kaiJob{name: "build1", queue: "a", class: "build", age: 7})
	}, map[string]string{"build1": "no"}},
	{"15 no limit is none", func(k *ofKAI) {
		department(k, 4, kaiQueue{name: "a", gpu: 4, weight: 1, noLimit: true})
		k.job(kaiJob{name: "train", queue: "a", age: 5})
	}, map[string]string{"train": "no"}},
}

func threeNodes(k *ofKAI, cpu float64) {
	k.queue(kaiQueue{name: "dept", gpu: -1, weight: 1, cpu: -1})
	k.queue(kaiQueue{name: "a", parent: "dept", gpu: 3, weight: 1, cpu: cpu, age: 2})
	k.queue(kaiQueue{name: "b", parent: "dept", weight: 1, cpu: cpu, age: 1})
	for i, node := range []string{"n1", "n2", "n3"} {
		k.node(node, 3)
		k.job(kaiJob{name: fmt.Sprint("b", i), queue: "b", gpus: 2, node: node, age: 90 - i})
	}
	k.job(kaiJob{name: "a", queue: "a", gpus: 3, age: 5})
}

// kaiSaid is what a door says about a group.
type kaiSaid struct {
	Verdict  struct{ Outcome, Why string }
	Decision struct {
		Outcome string
		Victims []kaiVictim
	}
}

type kaiVictim struct {
	Workload string
	Replicas []struct{ Count int }
}

// said is fits, no, unknown or the victims by their short names.
func (k *ofKAI) said(outcome, why string, victims []kaiVictim) string {
	switch outcome {
	case "Impossible":
		return "no"
	case "Unknown":
		return "unknown: " + why
	case "Fits":
		return "fits"
	}
	short := map[string]string{}
	for name, long := range k.long {
		short[kaiNamespace+"/"+long] = name
	}
	var names []string
	for _, v := range victims {
		name := short[v.Workload]
		if len(v.Replicas) > 0 {
			name += fmt.Sprint(":", v.Replicas[0].Count)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// asked asks about a group.
func (k *ofKAI) asked(t *testing.T, text, group string) string {
	t.Helper()
	status, stdout, stderr := call(strings.NewReader(text), "-f", "-", "-at", kaiNow.Format(time.RFC3339), "-workload", kaiNamespace+"/"+k.name(group), "-o", "json")
	var got kaiSaid
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || stderr != "" {
		t.Fatalf("%s: %v, %q", group, err, stderr)
	}
	if want := map[string]int{"Impossible": 1, "Unknown": 3}[got.Verdict.Outcome]; status != want {
		t.Errorf("%s: status %d, want %d", group, status, want)
	}
	return k.said(got.Verdict.Outcome, got.Verdict.Why, got.Decision.Victims)
}

// handler serves a cluster.
func (k *ofKAI) handler(t *testing.T) (c *cluster, request func(method, path string, body any) []byte) {
	t.Helper()
	in := must(answers.Read([]objects.Source{{Name: "-", Reader: strings.NewReader(k.text(t))}}, ""))(t)
	c = must(newCluster(in, new(rooms.Nodes), &options{now: kaiNow, asked: true}, stdio{}, nil))(t)
	served := c.served(&options{asked: true}, stdio{})
	h := serve.Handler(serve.Options{Cluster: func() *serve.Cluster { return served }, Now: func() time.Time { return kaiNow }})
	return c, func(method, path string, body any) []byte {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, bytes.NewReader(must(json.Marshal(body))(t))))
		if w.Code != 200 {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return w.Body.Bytes()
	}
}

// What the edits of a simulation remove frees its room on nodes, as a whole and in part.
func TestSimulateKAI(t *testing.T) {
	k := newKAI()
	department(k, 0, kaiQueue{name: "a", gpu: 4, weight: 1}, kaiQueue{name: "b", gpu: 4, weight: 1})
	k.node("n1", 4)
	k.node("n2", 4)
	k.job(kaiJob{name: "elastic", queue: "b", pods: 4, min: 1, node: "n1", age: 90})
	k.job(kaiJob{name: "other", queue: "b", gpus: 2, node: "n2", age: 80})
	k.job(kaiJob{name: "wide", queue: "a", gpus: 3, age: 5})
	c, request := k.handler(t)
	wide := must(find(options{workload: kaiNamespace + "/" + k.name("wide")}, &c.Input, kaiNow))(t).Workload
	added := wide.Clone()
	added.ID, added.ReservedAt = "research/added", kaiNow
	for i := range added.PodSets[0].Requests {
		if r := &added.PodSets[0].Requests[i]; r.Resource == "GPU" {
			r.Amount = r.Amount / 3 * 2
		}
	}
	one := map[string]any{"remove": map[string]any{"workload": kaiNamespace + "/" + k.name("elastic"), "replicas": []any{map[string]any{"podSet": "main", "count": 1}}}}
	freed := map[string]any{"remove": map[string]any{"workload": kaiNamespace + "/" + k.name("other")}}
	part := map[string]any{"workload": kaiNamespace + "/" + k.name("elastic"), "replicas": []any{map[string]any{"podSet": "main", "count": 3}}}
	for name, test := range map[string]struct {
		edits []any
		want  string
	}{
		"no edits":                               {[]any{}, "Preempt"}, // two GPUs are free, on another node
		"a whole one":                            {[]any{map[string]any{"remove": map[string]any{"workload": kaiNamespace + "/" + k.name("other")}}}, "Fits"},
		"what is added holds room":               {[]any{freed, one, map[string]any{"admit": added}}, "Impossible"}, // of 4 GPUs on a node 2 are left, and one on the other
		"a part":                                 {[]any{map[string]any{"remove": part}}, "Fits"},
		"too little, and b then holds its quota": {[]any{map[string]any{"remove": map[string]any{"workload": part["workload"], "replicas": []any{map[string]any{"podSet": "main", "count": 2}}}}}, "Impossible"},
	} {
		var got struct{ Answers []kaiSaid }
		if err := json.Unmarshal(request("POST", "/v1/simulate", map[string]any{"edits": test.edits, "requests": []any{map[string]any{"workload": wide}}}), &got); err != nil || got.Answers[0].Decision.Outcome != test.want {
			t.Errorf("%s: %v, %+v, want %s", name, err, got, test.want)
		}
	}
}

// A door answers about a group of a cluster.
type kaiDoor func(t *testing.T, group string) string

// doors are the ways to ask about the groups of a cluster: the command line, what the server decides and why a group waits, and the page.
func (k *ofKAI) doors(t *testing.T) map[string]kaiDoor {
	t.Helper()
	text := k.text(t)
	c, raw := k.handler(t)
	in := c.Input
	m := must(model.New(model.FromInput(in, "-", kaiNow)))(t)
	request := func(method, path string, body any) (got kaiSaid) {
		if err := json.Unmarshal(raw(method, path, body), &got); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		return got
	}
	return map[string]kaiDoor{
		"ask": func(t *testing.T, group string) string { return k.asked(t, text, group) },
		"decide": func(t *testing.T, group string) string {
			w := must(find(options{workload: kaiNamespace + "/" + k.name(group)}, &in, kaiNow))(t).Workload
			got := request("POST", "/v1/decide", map[string]any{"request": map[string]any{"workload": w}})
			return k.said(got.Decision.Outcome, "", got.Decision.Victims)
		},
		"decide about a new one": func(t *testing.T, group string) string {
			w := must(find(options{workload: kaiNamespace + "/" + k.name(group)}, &in, kaiNow))(t).Workload
			without := c.State.FairShares
			defer func() { c.State.FairShares = without }()
			none := w.Clone()
			none.PodSets = nil
			c.State.FairShares = answers.Requesting(without, &none, &w) // then the new one requests as much
			w.ID = "research/new"
			got := request("POST", "/v1/decide", map[string]any{"request": map[string]any{"workload": w}})
			return k.said(got.Decision.Outcome, "", got.Decision.Victims)
		},
		"why": func(t *testing.T, group string) string {
			got := request("GET", "/v1/workloads/"+kaiNamespace+"/"+k.name(group)+"/why", nil)
			if got.Verdict.Outcome != "Preempt" {
				return k.said(got.Verdict.Outcome, got.Verdict.Why, nil)
			}
			return "preempts" // its explanation names the victims
		},
		"page": func(t *testing.T, group string) string {
			if err := m.Select(kaiNamespace + "/" + k.name(group)); err != nil {
				t.Fatal(err)
			}
			var got kaiSaid
			if err := json.Unmarshal(must(json.Marshal(m.Ask()))(t), &got); err != nil {
				t.Fatal(err)
			}
			return k.said(m.Ask().Outcome, "", got.Decision.Victims)
		},
	}
}

// Each situation is answered as KAI answers it, through each door.
func TestSituationsOfKAI(t *testing.T) {
	for _, s := range kaiSituations {
		k := newKAI()
		s.build(k)
		for door, ask := range k.doors(t) {
			for group, want := range s.want {
				got := ask(t, group)
				if want == "one" && len(strings.Fields(got)) == 1 && got[0] == 'b' || got == "preempts" && want != "fits" && want != "no" {
					continue
				}
				if got != want {
					t.Errorf("%s: %s: %s: %s, want %s", s.name, door, group, got, want)
				}
			}
		}
	}
}
