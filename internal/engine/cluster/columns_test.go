package cluster

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func uses(id, queueName string, amount int64, frs ...quota.FlavorResource) workload.Workload {
	w := workload.Workload{ID: id, Queue: queueName, PodSets: []workload.PodSet{{Name: "main", Count: 1}}}
	for _, fr := range frs {
		w.PodSets[0].Requests = append(w.PodSets[0].Requests, quota.Amount{Flavor: fr.Flavor, Resource: fr.Resource, Amount: amount})
	}
	return w
}

// What nobody names any more leaves nothing behind: edits cost the same after however
// many flavors that came and went.
func TestColumnsAreForgotten(t *testing.T) {
	c, err := New(nil, []queue.Queue{{Name: "a", Quotas: []quota.Quota{{Flavor: "f", Resource: "r", Nominal: 4}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pairs := func(from, to int) (bytes uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := from; i < to; i++ {
			of := func(resource string) quota.FlavorResource {
				return quota.FlavorResource{Flavor: fmt.Sprintf("flavor-%06d", i), Resource: resource}
			}
			w := uses("w", "a", 1, of("cpu"), of("gpu"))
			if c, err = c.Admit("", &w); err != nil {
				t.Fatal(err)
			}
			if c, err = c.Remove("", "w"); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	pairs(0, 100)
	first := pairs(100, 1100)
	pairs(1100, 14_000)
	if last := pairs(14_000, 15_000); last > first+first/2 {
		t.Errorf("a thousand pairs allocate %d bytes at first and %d after 14,000", first, last)
	}
	if c.Columns.size > 3 || c.Columns.others.Len() != 0 || c.Columns.othersByNumber.Len() != 0 {
		t.Errorf("%d numbers, %d columns without quota", c.Columns.size, c.Columns.others.Len())
	}
}

// Columns of quotas that go are forgotten too, once no workload uses them.
func TestColumnsOfQuotasAreForgotten(t *testing.T) {
	config := func(i int) []queue.Queue {
		return []queue.Queue{{Name: "a", Quotas: []quota.Quota{{Flavor: fmt.Sprint("f", i), Resource: "r", Nominal: 4}}}}
	}
	c, err := New(nil, config(0), []workload.Workload{uses("w", "a", 0, quota.FlavorResource{Flavor: "f0", Resource: "r"})})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if c, err = c.Configure("", nil, config(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if c.Columns.size > 3 || c.Columns.others.Len() != 1 {
		t.Errorf("%d numbers, %d columns without quota", c.Columns.size, c.Columns.others.Len())
	}
}

// A column without quota is kept until the last workload that names it has left, though all of
// them have the same pod sets.
func TestColumnOfEqualWorkloads(t *testing.T) {
	fr := quota.FlavorResource{Flavor: "f", Resource: "r"}
	c, err := New(nil, []queue.Queue{{Name: "a"}}, []workload.Workload{uses("one", "a", 1, fr), uses("other", "a", 1, fr)})
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.Remove("", "one"); err != nil || c.Columns.Number(fr) < 0 {
		t.Errorf("one still runs: number %d, %v", c.Columns.Number(fr), err)
	}
	if c, err = c.Remove("", "other"); err != nil || c.Columns.Number(fr) >= 0 {
		t.Errorf("none runs: number %d, %v", c.Columns.Number(fr), err)
	}
}

// After any edits a flavor-resource has a number as long as a quota or a workload names
// it, no two have the same, and usage is what the workloads use, by name. Clusters from
// before an edit are as they were.
func TestColumnsByEdits(t *testing.T) { rapid.Check(t, columnsByEdits) }
func columnsByEdits(t *rapid.T) {
	var pool []quota.FlavorResource
	for i := range 12 { // more than few
		pool = append(pool, quota.FlavorResource{Flavor: fmt.Sprint("f", i/2), Resource: fmt.Sprint("r", i%2)})
	}
	some := func(label string, most int) []quota.FlavorResource {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(pool), 0, most, rapid.ID).Draw(t, label)
	}
	config := func() []queue.Queue {
		var quotas []quota.Quota
		for _, fr := range some("quotas", 12) {
			quotas = append(quotas, quota.Quota{Flavor: fr.Flavor, Resource: fr.Resource, Nominal: 4})
		}
		return []queue.Queue{{Name: "a", Quotas: quotas}, {Name: "b"}}
	}
	type world struct {
		cluster *Cluster
		queues  []queue.Queue
		running map[string]workload.Workload
	}
	check := func(w world) {
		t.Helper()
		named := map[quota.FlavorResource]bool{}
		usage := map[string]int64{}
		for _, q := range w.queues {
			for _, e := range q.Quotas {
				named[e.FlavorResource()] = true
			}
		}
		for _, r := range w.running {
			for _, u := range r.Usage() {
				named[u.FlavorResource()] = true
				usage[fmt.Sprint(r.Queue, u.FlavorResource())] += u.Amount
			}
		}
		numbers := map[int]bool{}
		for _, fr := range pool {
			n := w.cluster.Columns.Number(fr)
			if (n >= 0) != named[fr] || n >= 0 && (numbers[n] || w.cluster.Columns.Name(n) != fr || n >= len(pool)) {
				t.Fatalf("%v has the number %d, named %v", fr, n, named[fr])
			}
			numbers[n] = true
			for _, q := range []string{"a", "b"} {
				node, _ := w.cluster.QueueNode(q)
				if got := w.cluster.Usage.At(node, n); n >= 0 && got != usage[fmt.Sprint(q, fr)] {
					t.Fatalf("%s uses %d of %v, want %d", q, got, fr, usage[fmt.Sprint(q, fr)])
				}
			}
		}
	}
	now := world{queues: config(), running: map[string]workload.Workload{}}
	var err error
	if now.cluster, err = New(nil, now.queues, nil); err != nil {
		t.Fatal(err)
	}
	worlds := []world{now}
	for range rapid.IntRange(1, 12).Draw(t, "edits") {
		next := world{queues: now.queues, running: map[string]workload.Workload{}}
		for id, w := range now.running {
			next.running[id] = w
		}
		id := rapid.SampledFrom([]string{"w0", "w1", "w2", "w3"}).Draw(t, "id")
		_, runs := now.running[id]
		switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
		case kind == 4: // all that run, for one
			var changes []Change
			for _, id := range slices.Sorted(maps.Keys(now.running)) {
				w, _ := now.cluster.Find(id)
				changes = append(changes, Change{Old: w})
			}
			w := uses(fmt.Sprint("r", len(worlds)), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "queue"), 1, some("uses", 4)...)
			next.running = map[string]workload.Workload{w.ID: w}
			copied := w.Clone()
			next.cluster, err = now.cluster.Replace(append(changes, Change{New: &copied}))
		case kind == 0:
			next.queues = config()
			next.cluster, err = now.cluster.Configure("", nil, next.queues)
		case runs && kind == 1:
			next.cluster, err = now.cluster.StartEviction("", id)
		case runs:
			delete(next.running, id)
			next.cluster, err = now.cluster.Remove("", id)
		default:
			w := uses(id, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "queue"), rapid.Int64Range(0, 2).Draw(t, "amount"), some("uses", 4)...)
			next.running[id] = w
			copied := w.Clone()
			next.cluster, err = now.cluster.Admit("", &copied)
		}
		if err != nil {
			t.Fatal(err)
		}
		now, worlds = next, append(worlds, next)
	}
	for _, w := range worlds {
		check(w)
	}
	anew, err := New(nil, now.queues, slices.Collect(func(yield func(workload.Workload) bool) {
		for _, w := range now.running {
			if !yield(w) {
				return
			}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	check(world{anew, now.queues, now.running})
}
