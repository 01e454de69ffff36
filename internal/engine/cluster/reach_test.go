package cluster_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// After any edits the reach is what it would be computed from nothing.
func reachFollowsEdits(t *rapid.T) {
	st := preemptiontest.States().Draw(t, "state")
	c, err := cluster.New(st.Cohorts, st.Queues, st.Admitted)
	if err != nil {
		t.Fatal(err)
	}
	for range rapid.IntRange(1, 12).Draw(t, "edits") {
		w := preemptiontest.Workload(st, rapid.SampledFrom([]string{"ns/w00", "ns/w01", "ns/w02", "ns/new"}).Draw(t, "id")).Draw(t, "workload")
		w.ReservedAt = preemptiontest.Now
		next, err := c, error(nil)
		switch rapid.SampledFrom([]string{"admit", "remove", "evict", "update", "configure"}).Draw(t, "edit") {
		case "configure":
			cohorts, queues := configured(t, c)
			next, err = c.Configure("", cohorts, queues)
		case "admit":
			next, err = c.Admit("", &w)
		case "remove":
			next, err = c.Remove("", w.ID)
		case "evict":
			next, err = c.StartEviction("", w.ID)
		case "update":
			next, err = c.Admit("", &w)
		}
		if err == nil {
			c = next
		}
		for cohort := range st.Cohorts {
			got, want := c.Reach(cohort), c.ReachAnew(cohort)
			heads, sums := got.Content()
			wantHeads, wantSums := want.Content()
			if !slices.Equal(heads, wantHeads) || got.Lanes() != want.Lanes() {
				t.Fatalf("cohort %d: heads %v of lanes %b, want %v of lanes %b", cohort, heads, got.Lanes(), wantHeads, want.Lanes())
			}
			if !slices.EqualFunc(sums, wantSums, func(a, b cluster.PrioritySum) bool {
				return a.Priority == b.Priority && slices.Equal(a.Loads, b.Loads)
			}) {
				t.Fatalf("cohort %d: sums %v, want %v", cohort, sums, wantSums)
			}
		}
	}
}

// configured draws a configuration that differs from that of a cluster in one queue or cohort.
func configured(t *rapid.T, c *cluster.Cluster) ([]queue.Cohort, []queue.Queue) {
	cohorts, queues := slices.Clone(c.Cohorts), slices.Clone(c.Queues)
	quotas := func(list []quota.Quota) []quota.Quota {
		list = slices.Clone(list)
		if len(list) > 0 {
			one := &list[rapid.IntRange(0, len(list)-1).Draw(t, "quota")]
			one.Nominal = rapid.Int64Range(0, 8).Draw(t, "nominal")
			one.LendingLimit = quota.AtMost(rapid.Int64Range(0, one.Nominal).Draw(t, "lending limit"))
		}
		return list
	}
	cohort := func() string {
		if len(cohorts) == 0 {
			return ""
		}
		return rapid.SampledFrom(cohorts).Draw(t, "cohort").Name
	}
	q := &queues[rapid.IntRange(0, len(queues)-1).Draw(t, "queue")]
	switch rapid.SampledFrom([]string{"quota", "moves", "inactive", "new", "cohort"}).Draw(t, "configures") {
	case "quota":
		q.Quotas = quotas(q.Quotas)
	case "moves":
		q.Cohort = cohort()
	case "inactive":
		q.Inactive = !q.Inactive
	case "new":
		queues = append(queues, queue.Queue{Name: rapid.SampledFrom([]string{"a-first", "z-last"}).Draw(t, "name"), Cohort: cohort()})
	case "cohort":
		if len(cohorts) > 0 {
			one := &cohorts[rapid.IntRange(0, len(cohorts)-1).Draw(t, "cohort")]
			one.Quotas, one.Parent = quotas(one.Quotas), rapid.SampledFrom([]string{"", one.Parent}).Draw(t, "parent")
		}
	}
	return cohorts, queues
}

// The sums up to a priority are by how much the cohort uses less when all of up to that
// priority leave who ever yield and run in queues that can be reached: they borrow, as does every cohort
// between.
func sumsAreWhatLeaves(t *rapid.T) {
	st := preemptiontest.States().Draw(t, "state")
	c, err := cluster.New(st.Cohorts, st.Queues, st.Admitted)
	if err != nil {
		t.Fatal(err)
	}
	for cohort := range st.Cohorts {
		_, sums := c.Reach(cohort).Content()
		left := map[int]int64{} // by column
		for _, sum := range sums {
			without := c
			for _, w := range c.All() {
				if node, _ := c.QueueNode(w.Facts.Queue()); w.Priority > sum.Priority || !inReach(c, node, cohort) {
					continue
				}
				if !w.Facts.NeverYields || w.Facts.Evicted {
					if without, err = without.Remove("", w.Facts.ID); err != nil {
						t.Fatal(err)
					}
					continue
				}
				for _, p := range w.PodSets { // what is leaving leaves
					if without, err = without.Shrink("", w.Facts.ID, []cluster.Replicas{{PodSet: p.Name, Count: p.Terminating}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, l := range sum.Loads {
				left[l.Column] += l.Amount
			}
			for _, used := range c.Usage.Row(cohort) {
				if got := used.Amount - without.Usage.At(cohort, used.Column); got != left[used.Column] {
					t.Fatalf("cohort %d uses %d less of column %d without those of up to priority %d, the sums say %d",
						cohort, got, used.Column, sum.Priority, left[used.Column])
				}
			}
		}
	}
}

func inReach(c *cluster.Cluster, node, cohort int) bool {
	for ; node != cohort; node = c.Tree.Parent(node) {
		if node < 0 || !c.CanReach(node) {
			return false
		}
	}
	return true
}

func TestSumsAreWhatLeaves(t *testing.T) { rapid.Check(t, sumsAreWhatLeaves) }
func TestReachFollowsEdits(t *testing.T) { rapid.Check(t, reachFollowsEdits) }
