package cluster_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// After any edits the queues in which workloads have a trait are those in which some running workload
// has it, and no other trait is known.
func traitsFollowEdits(t *rapid.T) {
	st := preemptiontest.States().Draw(t, "state")
	trait := func(w *workload.Workload) {
		w.Labels, w.PriorityClass = nil, rapid.SampledFrom([]string{"", "low", "high"}).Draw(t, "class")
		if team := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "team"); team != "" {
			w.Labels = map[string]string{"team": team, "other": "x"}
		}
	}
	for i := range st.Admitted {
		trait(&st.Admitted[i])
	}
	numbers := map[selectors.Trait]int32{{Key: "team", Value: "a"}: 0, {Value: "low"}: 1, {Key: "team", Value: "b"}: 3, {Key: "team", Value: "nobody"}: 4}
	c, err := cluster.New(st.Cohorts, st.Queues, st.Admitted)
	if err != nil {
		t.Fatal(err)
	}
	if c = c.Counting(numbers); c != c.Counting(maps.Clone(numbers)) {
		t.Fatal("counted twice")
	}
	for range rapid.IntRange(1, 12).Draw(t, "edits") {
		id := rapid.SampledFrom([]string{"ns/w00", "ns/w01", "ns/w02", "ns/new"}).Draw(t, "id")
		w := preemptiontest.Workload(st, id).Draw(t, "workload")
		w.ReservedAt = preemptiontest.Now
		trait(&w)
		next, err := c, error(nil)
		switch rapid.SampledFrom([]string{"admit", "remove", "evict", "update", "replace", "configure"}).Draw(t, "edit") {
		case "admit":
			next, err = c.Admit("", &w)
		case "remove":
			next, err = c.Remove("", id)
		case "evict":
			next, err = c.StartEviction("", id)
		case "update":
			next, err = c.Update("", &w)
		case "replace":
			old, _ := c.Find(id)
			next, err = c.Replace([]cluster.Change{{Old: old, New: &w}})
		case "configure": // other nodes for the same queues
			next, err = c.Configure("", c.Cohorts, append(slices.Clone(st.Queues), queue.Queue{Name: "0"}))
		}
		if err == nil {
			c = next
		}
		for i := range 6 {
			var of []string
			c.EachQueueWith(i, func(node int) { of = append(of, c.Queue(node).Name) })
			if want := queuesWith(c, numbers, int32(i)); !slices.Equal(of, want) {
				t.Fatalf("trait %d in %v, want %v", i, of, want)
			}
			from, ok := c.NextTrait(i)
			want := slices.IndexFunc([]int{0, 1, 2, 3, 4, 5}, func(n int) bool { return n >= i && len(queuesWith(c, numbers, int32(n))) > 0 })
			if ok != (want >= 0) || ok && from != want {
				t.Fatalf("the next trait from %d is %d, %t, want %d", i, from, ok, want)
			}
		}
	}
}

// queuesWith looks at every workload.
func queuesWith(c *cluster.Cluster, numbers map[selectors.Trait]int32, trait int32) (names []string) {
	for of, n := range numbers {
		for _, w := range c.All() {
			if value, has := w.Facts.Labels()[of.Key]; n == trait && (has && value == of.Value || of == selectors.Trait{Value: w.Facts.PriorityClass()}) {
				names = append(names, w.Facts.Queue())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestTraitsFollowEdits(t *testing.T) { rapid.Check(t, traitsFollowEdits) }
func FuzzTraitsFollowEdits(f *testing.F) { f.Fuzz(rapid.MakeFuzz(traitsFollowEdits)) }
