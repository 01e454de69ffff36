package preemption_test

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// A victim waits again as it was submitted. One whose time was over goes to the end of the
// queue: otherwise it would take its room back at once.
func ExampleVictim_Requeued() {
	submitted := workload.Workload{ID: "long", Queue: "a", Queued: now.Add(-time.Hour)}
	for _, reason := range []preemption.VictimReason{preemption.InClusterQueue, preemption.InClusterQueueTimeBased} {
		back, err := (preemption.Victim{Workload: "long", Reason: reason, PreemptorQueued: now.Add(-time.Minute)}).Requeued(submitted, now)
		fmt.Println(reason, now.Sub(back.Queued), err)
	}
	// Output:
	// InClusterQueue 1h0m0s <nil>
	// InClusterQueueTimeBased 0s <nil>
}
