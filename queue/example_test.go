package queue_test

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Validate names every fault with its path.
func ExampleValidate() {
	err := queue.Validate([]queue.Cohort{{Name: "a", Parent: "b"}, {Name: "b", Parent: "a"}},
		[]queue.Queue{{Name: "lab", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: -8}}}})
	fmt.Println(err)
	// Output:
	// cohorts[0].parent: cohorts ["a" "b"] are a cycle; queues[0].quotas[0].nominal: -8 is negative (queue "lab")
}

// The head is the workload of the highest priority; of equals the one that is queued longest.
func ExamplePending() {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p, _ := queue.NewPending(nil, []queue.Queue{{Name: "lab"}})
	for _, w := range []workload.Workload{
		{ID: "late", Queue: "lab", Queued: noon.Add(time.Minute)},
		{ID: "early", Queue: "lab", Queued: noon},
		{ID: "urgent", Queue: "lab", Queued: noon.Add(time.Hour), Priority: 1},
	} {
		w.PodSets = []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Resource: "gpu", Amount: 1}}}}
		next, err := p.Add(w)
		if err != nil {
			fmt.Println(err)
		}
		p = next
	}
	for p.Len() > 0 {
		head := p.Heads()[0].Workload.ID
		fmt.Println(head)
		p, _ = p.Admit(head)
	}
	// Output:
	// urgent
	// early
	// late
}
