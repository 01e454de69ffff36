package kueue

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/preemption"
)

func TestShapesOfInput(t *testing.T) {
	a, b := gpuQueue("a", 1), gpuQueue("b", 2)
	bare := func(s string) string { // as straight from an API server
		return strings.Replace(s, `"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",`, "", 1)
	}
	want := mustRead(t, list(a, b)).Queues
	for name, text := range map[string]string{
		"documents":        a + "\n" + b,
		"lists":            list(a) + list(b),
		"array":            "[" + a + "," + b + "]",
		"typed list":       `{"kind":"ClusterQueueList","apiVersion":"kueue.x-k8s.io/v1beta2","metadata":{},"items":[` + bare(a) + "," + bare(b) + "]}",
		"with other kinds": list(item("ResourceFlavor", "h100", ""), a, item("Topology", "dc", ""), b, item("WorkloadPriorityClass", "x", `"value":1`)),
		"with empty lists": `{"items":null,"kind":"List"}` + list(a, b) + list(),
	} {
		if diff := cmp.Diff(want, mustRead(t, text).Queues, compareLimits); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":           {"", "the input is empty"},
		"white space":       {" \n ", "the input is empty"},
		"yaml":              {"apiVersion: v1\nitems: []\n", "not JSON: byte 0"},
		"a number":          {"5", "want a Kubernetes object"},
		"garbage later":     {`{"kind":"List","items":[{"kind":"x" oops}]}`, "not JSON: byte 36"},
		"garbage in keys":   {`{"kind":"List" "items":[]}`, "not JSON: byte 15"},
		"cut in an item":    {list(gpuQueue("a", 1))[:200], "JSON ends early, at byte 200"},
		"cut between items": {`{"items":[` + gpuQueue("a", 1), "JSON ends early"},
		"cut after a key":   {`{"items":`, "JSON ends early"},
		"no kind":           {`{"items":[{}]}`, "item 1: no kind"},
		"items of another":  {`{"items":5}`, "items: want a list"},
		"a pod":             {list(itemOf("v1", "Pod", "ns/web", "")), `item 1 (ns/web): unknown kind Pod of "v1"`},
		"a kind to come":    {list(gpuQueue("a", 1), item("Quota", "x", "")), "item 2 (x): unknown kind Quota"},
		"another Workload":  {list(itemOf("scheduling.k8s.io/v1alpha1", "Workload", "ns/w", "")), "ask kubectl for workloads.kueue.x-k8s.io"},
		"a version to come": {list(itemOf("kueue.x-k8s.io/v1", "Workload", "ns/w", "")), `unknown version "kueue.x-k8s.io/v1" of Workload`},
		"an old version":    {list(itemOf("kueue.x-k8s.io/v1alpha1", "ClusterQueue", "q", "")), "unknown version"},
		"no name":           {`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload"}`, "Workload without metadata.name"},
		"twice":             {list(gpuQueue("a", 1), gpuQueue("a", 1)), "ClusterQueue a is in the input twice"},
		"name of a number":  {`{"kind":"List","items":[{"metadata":{"name":5}}]}`, "item 1: metadata.name: want string, found number"},
		"spec of a list":    {item("ClusterQueue", "q", `"spec":[]`), "item 1 (q): spec"},
		"priority of text":  {item("Workload", "n/w", `"spec":{"priority":"high"}`), "spec.priority: want int64, found string"},
		"a policy":          {item("ClusterQueue", "q", `"spec":{"preemption":{"reclaimWithinCohort":"Sometimes"}}`), `ClusterQueue "q": spec.preemption.reclaimWithinCohort: "Sometimes"`},
		"a boost":           {strings.Replace(item("Workload", "n/w", ""), `"uid"`, `"annotations":{"kueue.x-k8s.io/priority-boost":"lots"},"uid"`, 1), `"lots" is not an integer`},
		"a quantity":        {strings.Replace(gpuQueue("a", 1), `"nominalQuota":"1"`, `"nominalQuota":"one"`, 1), `quantity "one"`},
		"a huge exponent":   {strings.Replace(gpuQueue("a", 1), `"nominalQuota":"1"`, `"nominalQuota":"1e999999999"`, 1), "out of range"},
		"a count":           {item("Workload", "n/w", `"spec":{"podSets":[{"name":"main","count":-1}]}`), "count -1 is out of range"},
		"a time":            {item("Workload", "n/w", `"status":{"conditions":[{"type":"Evicted","lastTransitionTime":"noon"}]}`), "noon"},
	} {
		_, err := Read(strings.NewReader(c.text))
		switch {
		case err == nil:
			t.Errorf("%s: no error, want %q", name, c.want)
		case !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: %q, want one line with %q", name, err, c.want)
		}
	}
}

// Input without end is refused after a bounded part of it.
func TestGarbageIsRefusedEarly(t *testing.T) {
	for name, start := range map[string]string{
		"noise": "\x00\xff\x7f", "blanks": " ", "brackets": "[", "one string": `{"kind":"`,
		"an object without end": `{"metadata":{"name":"`, "an item without end": `{"items":[{"spec":"`,
	} {
		read := &counter{r: io.MultiReader(strings.NewReader(start), endless(start[len(start)-1]))}
		if name == "one string" || strings.HasSuffix(name, "without end") {
			read.r = io.MultiReader(strings.NewReader(start), endless('x'))
		}
		if _, err := Read(read); err == nil || read.n > 2*maxObject {
			t.Errorf("%s: %v after %d bytes", name, err, read.n)
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
	sample, err := os.ReadFile("../../whatif/sample.json")
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
		c, err := Read(bytes.NewReader(data))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		snapshot, err := preemption.NewSnapshot(preemption.State{Cohorts: c.Cohorts, Queues: c.Queues, Admitted: c.Admitted})
		if err != nil {
			return
		}
		for i := range c.Pending {
			p := &c.Pending[i]
			_, _ = preemptor.Decide(snapshot, preemption.Request{Workload: p.Workload(), Now: time.Unix(1777777777, 0)})
		}
	})
}
