package usage

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// In a view from which workloads are taken, every number is that of a cluster without
// them; put back, it is that of the first one. The other kinds of gone stay as they were.
func agreesWithACluster(t *rapid.T) {
	n := func(name string, most int) int64 { return int64(rapid.IntRange(0, most).Draw(t, name)) }
	resources := []string{"cpu", "memory"}
	cohorts := []queue.Cohort{{Name: "root"}, {Name: "mid", Parent: "root"}}
	var queues []queue.Queue
	for i := range 3 {
		q := queue.Queue{Name: fmt.Sprint("q", i), Cohort: cohorts[n("cohort", 1)].Name}
		for _, r := range resources {
			entry := quota.Quota{Flavor: "f", Resource: r, Nominal: n("nominal", 9)}
			if n("lends", 1) == 1 {
				entry.LendingLimit = quota.AtMost(n("lending limit", int(entry.Nominal)))
			}
			if n("borrows", 1) == 1 {
				entry.BorrowingLimit = quota.AtMost(n("borrowing limit", 9))
			}
			q.Quotas = append(q.Quotas, entry)
		}
		queues = append(queues, q)
	}
	var admitted []workload.Workload
	for i := range 1 + n("workloads", 5) {
		w := workload.Workload{ID: fmt.Sprint("w", i), Queue: queues[n("queue", 2)].Name, PodSets: []workload.PodSet{{Name: "main", Count: 1}}}
		for _, r := range resources {
			w.PodSets[0].Requests = append(w.PodSets[0].Requests, quota.Amount{Flavor: "f", Resource: r, Amount: n("amount", 9)})
		}
		admitted = append(admitted, w)
	}
	of := func(admitted []workload.Workload) *cluster.Cluster {
		c, err := cluster.New(cohorts, queues, admitted)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c, gone := of(admitted), n("gone", len(admitted))
	var columns []int
	for _, r := range resources {
		columns = append(columns, c.Columns.Number(quota.FlavorResource{Flavor: "f", Resource: r}))
	}
	var v View
	asked := int(n("asked", len(columns))) // of the others only the usage without victims is kept
	v.Reset(c, columns, asked)
	move := func(times int64) {
		for _, w := range admitted[:gone] {
			node, _ := c.QueueNode(w.Queue)
			dense, _ := c.Find(w.ID)
			v.Move(Victims, node, dense.Loads, times)
		}
	}
	check := func(u quotatree.Usage, of Gone) {
		for node := range c.Tree.Len() {
			within := true
			for slot, column := range columns {
				if got, want := v.Used(node, slot), u.At(node, column); of == Victims && got != want {
					t.Fatalf("node %d, slot %d uses %d, want %d", node, slot, got, want)
				}
				if slot >= asked {
					continue
				}
				if got, want := v.Cells(node)[slot].Used(of), u.At(node, column); got != want {
					t.Fatalf("node %d, slot %d uses %d, want %d", node, slot, got, want)
				}
				if got, bound := v.Available(of, node, slot); got != u.Available(node, column) {
					t.Fatalf("node %d, slot %d: available %d (bound by %d), want %d", node, slot, got, bound, u.Available(node, column))
				}
				within = within && u.Borrowed(node, column) == 0
			}
			if of != Victims {
				continue
			}
			if got := v.WithinNominal(node, []bool{true, true}[:asked]); got != within {
				t.Fatalf("node %d: within nominal %v", node, got)
			}
			if got, want := v.Share(node), u.Share(node).Share; got != want {
				t.Fatalf("node %d: share %v, want %v", node, got, want)
			}
		}
	}
	check(c.Usage, Victims)
	move(-1)
	check(of(admitted[gone:]).Usage, Victims)
	check(c.Usage, InReach)
	for _, w := range admitted[gone:] {
		node, _ := c.QueueNode(w.Queue)
		dense, _ := c.Find(w.ID)
		more := []int64{n("more", 9), n("more", 9)}
		var without, with []quota.Share
		for at := node; at >= 0; at = c.Tree.Parent(at) {
			without, with = append(without, v.ShareWithout(at, node, dense.Loads)), append(with, v.ShareWith(at, node, more))
		}
		shared := func(of []quota.Share) {
			for i, at := 0, node; at >= 0; i, at = i+1, c.Tree.Parent(at) {
				if want := v.Share(at); of[i] != want {
					t.Fatalf("%s: at node %d share %v, want %v", w.ID, at, of[i], want)
				}
			}
		}
		v.Move(Victims, node, dense.Loads, -1)
		shared(without)
		v.Move(Victims, node, dense.Loads, 1)
		for slot, amount := range more {
			v.MoveSlot(Victims, node, slot, amount)
		}
		shared(with)
		for slot, amount := range more {
			v.MoveSlot(Victims, node, slot, -amount)
		}
	}
	move(1)
	check(c.Usage, Victims)
}

func TestAgreesWithACluster(t *testing.T) { rapid.Check(t, agreesWithACluster) }
