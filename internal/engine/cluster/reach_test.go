package cluster_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// After any edits the reach is what it would be computed from nothing.
func reachFollowsEdits(t *rapid.T) {
	st := preemptiontest.States().Draw(t, "state")
	c, err := cluster.New(st.Cohorts, st.Queues, st.Admitted)
	if err != nil {
		t.Fatal(err)
	}
	c = c.OrderedByShare(cluster.ShareOrders{Ascending: rapid.Bool().Draw(t, "ascending"), Descending: rapid.Bool().Draw(t, "descending")})
	for range rapid.IntRange(1, 12).Draw(t, "edits") {
		w := preemptiontest.Workload(st, rapid.SampledFrom([]string{"ns/w00", "ns/w01", "ns/w02", "ns/new"}).Draw(t, "id")).Draw(t, "workload")
		w.ReservedAt = preemptiontest.Now
		next, err := c, error(nil)
		switch rapid.SampledFrom([]string{"admit", "remove", "evict", "update"}).Draw(t, "edit") {
		case "admit":
			next, err = c.Admit("", &w)
		case "remove":
			next, err = c.Remove("", w.ID)
		case "evict":
			next, err = c.StartEviction("", w.ID)
		case "update":
			next, err = c.Update("", &w)
		}
		if err == nil {
			c = next
		}
		for cohort := range st.Cohorts {
			heads, sums := c.ReachByEdits(cohort)
			wantHeads, wantSums := c.ReachAnew(cohort)
			if !slices.Equal(heads, wantHeads) || c.LanesByEdits(cohort) != c.LanesAnew(cohort) {
				t.Fatalf("cohort %d: heads %v of lanes %b, want %v of lanes %b", cohort,
					heads, c.LanesByEdits(cohort), wantHeads, c.LanesAnew(cohort))
			}
			if got, want := c.ShareHeadsByEdits(cohort), c.ShareHeadsAnew(cohort); !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("cohort %d: share heads %v, want %v", cohort, got, want)
			}
			if !slices.EqualFunc(sums, wantSums, func(a, b cluster.PrioritySum) bool {
				return a.Priority == b.Priority && slices.Equal(a.Loads, b.Loads)
			}) {
				t.Fatalf("cohort %d: sums %v, want %v", cohort, sums, wantSums)
			}
		}
	}
}

// The sums up to a priority are by how much the cohort uses less when all of up to that
// priority leave who ever yield and run in queues that borrow, as does every cohort between.
func sumsAreWhatLeaves(t *rapid.T) {
	st := preemptiontest.States().Draw(t, "state")
	c, err := cluster.New(st.Cohorts, st.Queues, st.Admitted)
	if err != nil {
		t.Fatal(err)
	}
	for cohort := range st.Cohorts {
		_, sums := c.ReachByEdits(cohort)
		left := map[int]int64{} // by column
		for _, sum := range sums {
			without := c
			for _, w := range c.All() {
				if node, _ := c.QueueNode(w.Facts.Queue()); w.Priority <= sum.Priority && (!w.Facts.NeverYields || w.Facts.Evicted) && inReach(c, node, cohort) {
					if without, err = without.Remove("", w.Facts.ID); err != nil {
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
func FuzzSumsAreWhatLeaves(f *testing.F) { f.Fuzz(rapid.MakeFuzz(sumsAreWhatLeaves)) }

func TestReachFollowsEdits(t *testing.T) { rapid.Check(t, reachFollowsEdits) }
func FuzzReachFollowsEdits(f *testing.F) { f.Fuzz(rapid.MakeFuzz(reachFollowsEdits)) }
