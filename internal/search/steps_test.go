package search

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/cluster"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// crowd is one cohort of two queues: "small" has room for as many as run in both,
// which all are in "big"; each takes one.
func crowd(t *testing.T, workloads int) *cluster.Cluster {
	t.Helper()
	of := func(n int) []quota.Quota {
		return []quota.Quota{{Flavor: "f", Resource: "r", Nominal: int64(n)}}
	}
	reclaims := queue.Preemption{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	var admitted []workload.Workload
	for i := range workloads {
		admitted = append(admitted, workload.Workload{
			ID: fmt.Sprintf("w%06d", i), Queue: "big", Priority: int64(i % 5), ReservedAt: time.Unix(int64(i), 0),
			PodSets: []workload.PodSet{{Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "r", Amount: 1}}}},
		})
	}
	c, err := cluster.New([]queue.Cohort{{Name: "c"}}, []queue.Queue{
		{Name: "big", Cohort: "c", Preemption: reclaims},
		{Name: "small", Cohort: "c", Quotas: of(workloads), Preemption: reclaims},
	}, admitted)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(c *cluster.Cluster, queueName string, priority, amount int64) *Request {
	node, _ := c.QueueNode(queueName)
	return &Request{
		Queue: node, Priority: priority,
		Columns: []int{c.Columns.Number(quota.FlavorResource{Flavor: "f", Resource: "r"})},
		Amounts: []int64{amount}, Needs: []bool{true},
	}
}

// Candidates come lazily: as many workloads are looked at as are taken, and a few
// more, however many there are.
func TestStepsGrowWithTheAnswer(t *testing.T) {
	var s Searcher
	for _, workloads := range []int{100, 10_000} {
		c := crowd(t, workloads)
		for _, victims := range []int64{1, 8, 80} {
			for _, name := range []string{"small", "big"} {
				found := s.Search(c, ask(c, name, 10, victims), 16)
				if len(found.Victims) != int(victims) {
					t.Fatalf("%d victims, want %d", len(found.Victims), victims)
				}
				if most := int(victims) + 8; found.Steps > most {
					t.Errorf("%d workloads, %d victims from %s: %d steps, want at most %d", workloads, victims, name, found.Steps, most)
				}
			}
		}
	}
}

// A request of the lowest priority looks at one workload of each donor.
func TestStepsOfNoCandidate(t *testing.T) {
	var s Searcher
	c := crowd(t, 10_000)
	found := s.Search(c, ask(c, "big", 0, 1), 16)
	if len(found.Victims) > 0 || found.Steps > 8 {
		t.Errorf("%d victims, %d steps", len(found.Victims), found.Steps)
	}
}
