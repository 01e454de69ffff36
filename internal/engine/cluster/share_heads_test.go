package cluster_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/quota"
)

// candidate is a running workload with its queue.
type candidate struct {
	*cluster.Workload
	node int
}

// withParts lists all workloads and their leaving replicas.
func withParts(c *cluster.Cluster) (list []*cluster.Workload) {
	for _, w := range c.All() {
		list = append(append(list, w), w.LeavingParts()...)
	}
	return list
}

// The share heads of a cohort are, of each child that can be reached, the queue under it with the least
// share, or the largest, and of equal ones the one with the first workload; and each knows the lowest
// priority under the child.
func shareHeadsAreFirst(t *rapid.T) {
	st := preemptiontest.States().Draw(t, "state")
	c, err := cluster.New(st.Cohorts, st.Queues, st.Admitted)
	if err != nil {
		t.Fatal(err)
	}
	c = c.Indexed(cluster.Indexes{Ascending: true, Descending: true, Everybody: rapid.Bool().Draw(t, "everybody")})
	extent := slices.Max(kept(c))
	under := func(node, above int) bool { return inReach(c, extent, node, above) }
	for cohort := range st.Cohorts {
		for i, evicted := range []bool{false, true} {
			for j, descending := range []bool{false, true} {
				var want []candidate // the first of each child
				least := map[int]int64{}
				before := func(a, b candidate) int {
					order := c.Usage.Share(a.node).Share.Compare(c.Usage.Share(b.node).Share)
					if descending {
						order = -order
					}
					return cmp.Or(order, cmp.Compare(a.Priority, b.Priority),
						cmp.Compare(instant.Rank(b.Reserved), instant.Rank(a.Reserved)), cluster.CompareIDs(a.Workload, b.Workload))
				}
				children := slices.Concat(c.ChildQueues[cohort], c.ChildCohorts[cohort])
				for _, child := range children {
					var of []candidate
					for _, w := range withParts(c) {
						node, _ := c.QueueNode(w.Facts.Queue())
						if w.Facts.Evicted == evicted && (evicted || !w.Facts.NeverYields) && c.CanReachOf(extent, int(child)) && under(node, int(child)) {
							of = append(of, candidate{w, node})
						}
					}
					if len(of) > 0 {
						least[int(child)] = slices.MinFunc(of, func(a, b candidate) int { return cmp.Compare(a.Priority, b.Priority) }).Priority
						want = append(want, slices.MinFunc(of, before))
					}
				}
				slices.SortFunc(want, before)
				got := c.ReachOf(extent, cohort).AllShareHeads()[2*i+j]
				if len(want) == 0 {
					if len(got) > 0 {
						t.Fatalf("cohort %d: %v, want none", cohort, got)
					}
					continue
				}
				got, all := got[:len(got)-1], got[len(got)-1].Least
				if !slices.EqualFunc(got, want, func(h cluster.ShareHead, of candidate) bool {
					share := cluster.ShareKey(c.Usage.Share(of.node).Share)
					if descending {
						share = ^share
					}
					return h.Workload.Facts.ID == of.Facts.ID && h.Workload.Leaving == of.Leaving && h.Share == share && under(of.node, int(h.Node)) && h.Least == least[int(h.Node)]
				}) {
					t.Fatalf("cohort %d, evicted %v, descending %v: %v, want %v, least %v", cohort, evicted, descending, got, want, least)
				}
				lowest := int64(math.MaxInt64)
				for _, l := range least {
					lowest = min(lowest, l)
				}
				if all != lowest {
					t.Fatalf("cohort %d: the lowest priority is %d, want %d", cohort, all, lowest)
				}
			}
		}
	}
}

func TestShareHeadsAreFirst(t *testing.T) { rapid.Check(t, shareHeadsAreFirst) }
func FuzzShareHeadsAreFirst(f *testing.F) { f.Fuzz(rapid.MakeFuzz(shareHeadsAreFirst)) }

// "Shares of weight 0 with a ratio over 0 come after all others, ordered by ratio" ([quota.Share.Compare]).
func TestShareKeyOrdersShares(t *testing.T) {
	var all []quota.Share
	for _, ratio := range []float64{0, 1e-300, 0.5, 1, 1000, 1e300} {
		for _, weight := range []float64{0, 1e-300, 0.5, 1, 3, 1e300} {
			all = append(all, quota.Share{Ratio: ratio, Weight: weight, Borrows: true})
		}
	}
	for _, a := range all {
		for _, b := range all {
			infinite := math.IsInf(a.Weighted(), 1) && math.IsInf(b.Weighted(), 1) && (a.Weight > 0 || b.Weight > 0)
			if got, want := cmp.Compare(cluster.ShareKey(a), cluster.ShareKey(b)), a.Compare(b); got != want && !infinite {
				t.Errorf("%v and %v: %d, want %d", a, b, got, want)
			}
		}
	}
}

// What is not kept is not there; keeping the same indexes again costs nothing.
func TestIndexes(t *testing.T) {
	c, err := cluster.New(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, indexes := range []cluster.Indexes{{}, {Ascending: true}, {Descending: true}, {Ascending: true, Descending: true}, {Everybody: true}} {
		d := c.Indexed(indexes)
		if d.HasShareHeads(false) != indexes.Ascending || d.HasShareHeads(true) != indexes.Descending || d.Keeps(cluster.Everybody) != indexes.Everybody {
			t.Errorf("%+v: ascending %v, descending %v, everybody %v", indexes, d.HasShareHeads(false), d.HasShareHeads(true), d.Keeps(cluster.Everybody))
		}
		if d.Indexed(indexes) != d {
			t.Errorf("%+v: another cluster", indexes)
		}
	}
}
