package kueue_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

func TestShapesOfInput(t *testing.T) {
	a, b := gpuQueue("a", 1), gpuQueue("b", 2)
	bare := func(s string) string { // as straight from an API server
		return strings.Replace(s, `"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",`, "", 1)
	}
	want := mustRead(t, list(a, b)).State.Queues
	for name, text := range map[string]string{
		"documents":        a + "\n" + b,
		"lists":            list(a) + list(b),
		"array":            "[" + a + "," + b + "]",
		"typed list":       `{"kind":"ClusterQueueList","apiVersion":"kueue.x-k8s.io/v1beta2","metadata":{},"items":[` + bare(a) + "," + bare(b) + "]}",
		"with other kinds": list(item("ResourceFlavor", "other", ""), a, item("Topology", "dc", ""), b, item("WorkloadPriorityClass", "x", `"value":1`)),
		"with empty lists": `{"items":null,"kind":"List"}` + list(a, b) + list(),
	} {
		if diff := cmp.Diff(want, mustRead(t, text).State.Queues, compareLimits); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":           {"", "it is empty"},
		"white space":       {" \n ", "it is empty"},
		"neither":           {"apiVersion: v1\nitems: [\n", "neither JSON nor YAML: yaml: line"},
		"a number":          {"5", "want a Kubernetes object"},
		"garbage later":     {`{"kind":"List","items":[{"kind":"x" oops}]}`, "not JSON: byte 36"},
		"garbage in keys":   {`{"kind":"List" "items":[]}`, "not JSON: byte 15"},
		"cut in an item":    {list(gpuQueue("a", 1))[:200], "JSON ends early, at byte 200"},
		"cut between items": {`{"items":[` + gpuQueue("a", 1), "JSON ends early"},
		"cut after a key":   {`{"items":`, "JSON ends early"},
		"no kind":           {`{"items":[{}]}`, "item 1: no kind"},
		"items of another":  {`{"items":5}`, "items: want a list"},
		"a pod":             {list(itemOf("v1", "Pod", "ns/web", "")), `item 1 (Pod ns/web): unknown kind Pod of "v1"`},
		"another Workload":  {list(itemOf("scheduling.k8s.io/v1alpha1", "Workload", "ns/w", "")), "ask kubectl for workloads.kueue.x-k8s.io"},
		"a version to come": {list(itemOf("kueue.x-k8s.io/v1", "Workload", "ns/w", "")), `unknown version "kueue.x-k8s.io/v1" of Workload`},
		"an old version":    {list(itemOf("kueue.x-k8s.io/v1alpha1", "ClusterQueue", "q", "")), "unknown version"},
		"no name":           {`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload"}`, "item 1 (Workload): no metadata.name"},
		"name of a number":  {`{"kind":"List","items":[{"metadata":{"name":5}}]}`, "item 1: metadata.name: want a string, found a number"},
		"spec of a list":    {item("ClusterQueue", "q", `"spec":[]`), "item 1 (ClusterQueue q): spec: want an object, found a list"},
		"priority of text":  {item("Workload", "n/w", `"spec":{"priority":"high"}`), "spec.priority: want an integer, found a string"},
		"a policy":          {item("ClusterQueue", "q", `"spec":{"preemption":{"reclaimWithinCohort":"Sometimes"}}`), `(ClusterQueue q): spec.preemption.reclaimWithinCohort: "Sometimes" is unknown: want Never, LowerPriority or Any`},
		"a boost":           {strings.Replace(item("Workload", "n/w", ""), `"uid"`, `"annotations":{"kueue.x-k8s.io/priority-boost":"lots"},"uid"`, 1), `"lots" is not an integer`},
		"a quantity":        {strings.Replace(gpuQueue("a", 1), `"nominalQuota":"1"`, `"nominalQuota":"one"`, 1), `"one" is not a quantity`},
		"a huge exponent":   {strings.Replace(gpuQueue("a", 1), `"nominalQuota":"1"`, `"nominalQuota":"1e999999999"`, 1), "out of range"},
		"a count":           {item("Workload", "n/w", `"spec":{"podSets":[{"name":"main","count":-1}]}`), "spec.podSets[0].count: -1 is out of range"},
		"a time":            {item("Workload", "n/w", `"status":{"conditions":[{"type":"Evicted","lastTransitionTime":"noon"}]}`), "noon"},
	} {
		_, err := read.OfKueue(strings.NewReader(c.text))
		switch {
		case err == nil:
			t.Errorf("%s: no error, want %q", name, c.want)
		case !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: %q, want one line with %q", name, err, c.want)
		}
	}
}

// An odd object costs only itself: a warning names it, and the field.
func TestLeftOut(t *testing.T) {
	flavor := item("ResourceFlavor", "h100", "")
	want := mustRead(t, list(gpuQueue("a", 1), flavor, item("LocalQueue", "n/lq", `"spec":{"clusterQueue":"a"}`)))
	for name, c := range map[string]struct{ object, warning string }{
		"a kind to come":     {item("Quota", "x", ""), "Quota x: Quota of kueue.x-k8s.io/v1beta2 is not read here"},
		"no kind":            {`{"metadata":{"name":"x"}}`, "x: no kind: not a Kubernetes object: left out"},
		"a pod":              {itemOf("v1", "Pod", "n/web", ""), "Pod n/web: Pod of v1 is not read here"},
		"no object":          {"5", "kueue: item 2: want a Kubernetes object, found a number: left out"},
		"twice":              {gpuQueue("a", 1), "ClusterQueue a: is in the input more than once: the last one counts"},
		"another Workload":   {itemOf("scheduling.k8s.io/v1alpha1", "Workload", "n/w", ""), "Workload n/w: a Workload of scheduling.k8s.io is not Kueue's: ask kubectl for workloads.kueue.x-k8s.io: left out"},
		"a boost":            {strings.Replace(item("Workload", "n/w", ""), `"uid"`, `"annotations":{"kueue.x-k8s.io/priority-boost":"lots"},"uid"`, 1), `Workload n/w: metadata.annotations[kueue.x-k8s.io/priority-boost]: "lots" is not an integer: left out`},
		"a time":             {item("Workload", "n/w", `"status":{"conditions":[{"type":"Evicted","lastTransitionTime":"noon"}]}`), `Workload n/w: status.conditions[0].lastTransitionTime: "noon" is not a time: left out`},
		"a time of creation": {strings.Replace(item("Workload", "n/w", ""), "2026-05-04T08:00:00Z", "noon", 1), "Workload n/w: metadata.creationTimestamp: \"noon\" is not a time: left out"},
		"a quantity":         {strings.Replace(gpuQueue("b", 1), `"nominalQuota":"1"`, `"nominalQuota":"one"`, 1), `ClusterQueue b: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: "one" is not a quantity`},
		"a negative request": {item("Workload", "n/w", `"spec":{"podSets":[{"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"6"}}}],"overhead":{"cpu":"-6"}}}}]}`), `Workload n/w: podSets "": template.spec.overhead.cpu: "-6" is less than zero: left out`},
		"a template":         {item("Workload", "n/w", `"spec":{"podSets":[{"name":"main","template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1e999999999"}}}]}}}]}`), `Workload n/w: podSets "main": template.spec.containers[0].resources.requests.cpu: quantity`},
		"an answer":          {`{"apiVersion":"v1","kind":"Status","metadata":{},"message":"the server\ncould not"}`, "item 2 (Status): an answer of the API server, not an object: the server could not: left out"},
	} {
		got := mustRead(t, list(gpuQueue("a", 1), c.object, flavor, item("LocalQueue", "n/lq", `"spec":{"clusterQueue":"a"}`)))
		if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], c.warning) || strings.Contains(got.Warnings[0], "\n") {
			t.Errorf("%s: %q, want %q", name, got.Warnings, c.warning)
		}
		// What stands for an object that cannot be read is in doubt.
		cannot := func(text string) bool { return strings.Contains(text, "cannot be read: ") }
		got.Pending = slices.DeleteFunc(got.Pending, func(p bridge.Pending) bool { return cannot(p.Unresolved) })
		if got.Doubts = nil; len(got.Pending) == 0 {
			got.Pending = nil
		}
		got.State.Queues = slices.DeleteFunc(got.State.Queues, func(q queue.Queue) bool { return q.Name == "b" })
		delete(got.QueueNotes, "b")
		delete(got.Selectors, "b")
		if got.Warnings = nil; !cmp.Equal(want, got, compareLimits) {
			t.Errorf("%s: -want +got:\n%s", name, cmp.Diff(want, got, compareLimits))
		}
	}
}

// Text that looks like a quantity with an absurd exponent is none in a field of another kind.
func TestTextIsNoQuantity(t *testing.T) {
	w := item("Workload", "n/w", `"spec":{"podSets":[{"name":"main","template":{"metadata":{"annotations":{"commit":"0e123456"}},
		"spec":{"containers":[{"image":"x@sha256:1e5670000000","env":[{"name":"A","value":"1e1000000000"}],"resources":{"requests":{"cpu":"2"}}}]}}}]}`)
	got := mustRead(t, w)
	if len(got.Warnings) > 0 || len(got.Pending) != 1 || !cmp.Equal(got.Pending[0].Workload.PodSets[0].Requests, []quota.Amount{{Resource: "cpu", Amount: 2000}}) {
		t.Errorf("%+v", got)
	}
}

// A watch tells what became of an object.
func TestWatch(t *testing.T) {
	event := func(kind, object string) string { return `{"object":` + object + `,"type":"` + kind + `"}` }
	held := `"status":{` + conditions("QuotaReserved x 09:00:00") + `,"admission":{"clusterQueue":"a","podSetAssignments":[]}}`
	got := mustRead(t, strings.Join([]string{
		event("ADDED", gpuQueue("a", 1)), event("ADDED", gpuQueue("b", 1)), event("ADDED", item("Workload", "n/x", "")),
		event("ADDED", item("Workload", "n/y", "")), event("BOOKMARK", item("Workload", "", "")), event("MODIFIED", item("Workload", "n/x", held)),
		event("DELETED", item("Workload", "n/y", "")), event("DELETED", gpuQueue("b", 1)), event("MODIFIED", gpuQueue("a", 3)),
	}, "\n"))
	if len(got.Warnings) > 0 || len(got.State.Queues) != 1 || got.State.Queues[0].Quotas[0].Nominal != 3 || len(got.Pending) != 0 ||
		len(got.State.Admitted) != 1 || got.State.Admitted[0].ID != "n/x" {
		t.Errorf("%+v", got)
	}
}

// Input without end is refused after a bounded part of it.
func TestGarbageIsRefusedEarly(t *testing.T) {
	for name, start := range map[string]string{
		"noise": "\x00\xff\x7f", "blanks": " ", "brackets": "[", "one string": `{"kind":"`,
		"an object without end": `{"metadata":{"name":"`, "an item without end": `{"items":[{"spec":"`,
	} {
		in := &counter{r: io.MultiReader(strings.NewReader(start), endless(start[len(start)-1]))}
		if name == "one string" || strings.HasSuffix(name, "without end") {
			in.r = io.MultiReader(strings.NewReader(start), endless('x'))
		}
		if _, err := read.OfKueue(in); err == nil || in.n > 80<<20 {
			t.Errorf("%s: %v after %d bytes", name, err, in.n)
		}
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	return copy(p, bytes.Repeat([]byte{byte(e)}, len(p))), nil
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// FuzzRead checks that no input panics, that errors are one line, and that what is
// read can be asked about or is refused by the library, with its own error.
func FuzzRead(f *testing.F) {
	sample, err := os.ReadFile("../../internal/answers/samples/cluster.json")
	if err != nil {
		f.Fatal(err)
	}
	var of struct{ Items []json.RawMessage }
	if err := json.Unmarshal(sample, &of); err != nil {
		f.Fatal(err)
	}
	for _, item := range of.Items { // one by one: mutations of a whole cluster get nowhere
		f.Add([]byte(item))
	}
	f.Add([]byte(list(gpuQueue("a", 1), item("LocalQueue", "n/lq", `"spec":{"clusterQueue":"a"}`),
		item("Workload", "n/w", `"spec":{"queueName":"lq","priority":3,"podSets":[{"name":"main","count":2,
			"template":{"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]}}}]}`))))
	f.Add([]byte(`[{"kind":"Workload"}]{}`))
	preemptor, err := preemption.New(preemption.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := read.OfKueue(bytes.NewReader(data))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		snapshot, err := preemption.NewSnapshot(c.State)
		if err != nil {
			return
		}
		for i := range c.Pending {
			p := &c.Pending[i]
			_, _ = preemptor.Decide(snapshot, preemption.Request{Workload: p.Workload, Now: time.Unix(1777777777, 0)})
		}
	})
}
