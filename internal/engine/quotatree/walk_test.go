package quotatree_test

import (
	"testing"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func cpu(nominal int64, limits ...quota.OptionalInt64) []quota.Quota {
	q := quota.Quota{Flavor: "f", Resource: "cpu", Nominal: nominal}
	if len(limits) > 0 {
		q.BorrowingLimit = limits[0]
	}
	if len(limits) > 1 {
		q.LendingLimit = limits[1]
	}
	return []quota.Quota{q}
}

// tree is root (2) over mid (3, it lends 2) over q (4), beside other (5) under root, and
// alone (6) under nothing; used says what runs in each queue.
func tree(t *testing.T, borrowing quota.OptionalInt64, used map[string]int64) (c *cluster.Cluster, node func(string) int) {
	t.Helper()
	var admitted []workload.Workload
	for _, name := range []string{"alone", "other", "q"} {
		if used[name] > 0 {
			admitted = append(admitted, workload.Workload{ID: name, Queue: name, PodSets: []workload.PodSet{
				{Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "cpu", Amount: used[name]}}}}})
		}
	}
	c, err := cluster.New(
		[]queue.Cohort{{Name: "root", Quotas: cpu(2)}, {Name: "mid", Parent: "root", Quotas: cpu(3, quota.OptionalInt64{}, quota.AtMost(2))}},
		[]queue.Queue{{Name: "q", Cohort: "mid", Quotas: cpu(4, borrowing)}, {Name: "other", Cohort: "root", Quotas: cpu(5)}, {Name: "alone", Quotas: cpu(6)}},
		admitted)
	if err != nil {
		t.Fatal(err)
	}
	return c, func(name string) int {
		if n, ok := c.QueueNode(name); ok {
			return n
		}
		n, _ := c.CohortNode(name)
		return n
	}
}

// "The height of the lowest subtree above the queue whose quota holds the amount beside
// what runs: 0 for its own nominal, the root's when none does." mid holds 7 with what q
// has, the root 9, of which 5 are other's.
func TestBorrowHeight(t *testing.T) {
	for _, c := range []struct {
		queue     string
		used      map[string]int64
		amount    int64
		height    int
		belowRoot bool
	}{
		{"q", nil, 4, 0, true},
		{"q", nil, 5, 1, true},
		{"q", nil, 7, 1, true},
		{"q", nil, 8, 2, false},
		{"q", map[string]int64{"q": 2}, 2, 0, true},
		{"q", map[string]int64{"q": 2}, 3, 1, true},
		{"q", map[string]int64{"q": 2}, 5, 1, true},
		{"q", map[string]int64{"q": 2}, 6, 2, false},
		{"q", map[string]int64{"other": 9}, 7, 1, true}, // what others use of the root does not count below it
		{"q", nil, 0, 0, true},
		{"other", nil, 5, 0, true},
		{"other", nil, 6, 2, false},
		{"alone", nil, 6, 0, false},
		{"alone", nil, 7, 0, false},
	} {
		cl, node := tree(t, quota.OptionalInt64{}, c.used)
		if height, below := cl.Usage.BorrowHeight(node(c.queue), 0, c.amount); height != c.height || below != c.belowRoot {
			t.Errorf("%d for %s beside %v: height %d, below the root %v; want %d, %v", c.amount, c.queue, c.used, height, below, c.height, c.belowRoot)
		}
	}
}

// "How much the amount is over what is available, and the nearest node whose quota or limit
// is the bound. Zero fits always."
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		queue     string
		borrowing quota.OptionalInt64
		used      map[string]int64
		amount    int64
		missing   int64
		bound     string
	}{
		{"alone", quota.OptionalInt64{}, nil, 6, 0, "alone"},
		{"alone", quota.OptionalInt64{}, nil, 8, 2, "alone"},
		{"alone", quota.OptionalInt64{}, map[string]int64{"alone": 4}, 3, 1, "alone"},
		{"alone", quota.OptionalInt64{}, map[string]int64{"alone": 9}, 0, 0, "alone"}, // over-admitted, and asked for nothing
		{"alone", quota.OptionalInt64{}, map[string]int64{"alone": 9}, 1, 4, "alone"},
		// mid keeps 5 of its 7 to itself; of the root's 9 the rest is 9, unless other uses it.
		{"q", quota.OptionalInt64{}, nil, 14, 0, "root"},
		{"q", quota.OptionalInt64{}, nil, 15, 1, "root"},
		{"q", quota.OptionalInt64{}, map[string]int64{"other": 9}, 6, 1, "root"},
		{"q", quota.AtMost(1), nil, 5, 0, "q"},
		{"q", quota.AtMost(1), nil, 6, 1, "q"},
		{"q", quota.AtMost(1), map[string]int64{"other": 9}, 6, 1, "q"}, // both bound it: the nearest
		{"q", quota.AtMost(1), map[string]int64{"q": 5}, 0, 0, "q"},
		{"q", quota.AtMost(1), map[string]int64{"q": 5}, 3, 3, "q"},
		{"q", quota.AtMost(2), map[string]int64{"other": 9}, 6, 1, "root"},
	} {
		cl, node := tree(t, c.borrowing, c.used)
		if missing, bound := cl.Usage.Missing(node(c.queue), 0, c.amount); missing != c.missing || bound != node(c.bound) {
			t.Errorf("%d for %s, borrowing limit %v, beside %v: %d at node %d, want %d at %s (%d)",
				c.amount, c.queue, c.borrowing, c.used, missing, bound, c.missing, c.bound, node(c.bound))
		}
	}
}
