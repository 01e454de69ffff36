package settle_test

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// A queue of 8 GPUs gets 4. Who has to leave, and when?
func ExampleDecide() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	gpus := func(n int64) []quota.Quota {
		return []quota.Quota{{Flavor: "h100", Resource: "nvidia.com/gpu", Nominal: n}}
	}
	job := func(id string, priority, gpus int64, started time.Time) workload.Workload {
		return workload.Workload{ID: id, Queue: "vision", Priority: priority, Queued: started, ReservedAt: started, PodSets: []workload.PodSet{
			{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "h100", Resource: "nvidia.com/gpu", Amount: gpus}}}}}
	}
	train := job("ns/train", 9, 4, now.Add(-time.Hour))
	train.NeverYields = true
	snapshot, err := preemption.NewSnapshot(preemption.State{
		Queues: []queue.Queue{{Name: "vision", Quotas: gpus(8)}},
		Admitted: []workload.Workload{
			job("ns/notebook", 0, 1, now.Add(-time.Minute)), job("ns/sweep", 0, 3, now.Add(-time.Hour)), train,
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	preemptor, err := preemption.New(preemption.Config{MinRuntime: minruntime.Defaults{Preempt: quota.Some(10 * time.Minute)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	lowered, err := snapshot.With(preemption.SetQueue(queue.Queue{Name: "vision", Quotas: gpus(4)}))
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := settle.Decide(preemptor, lowered, settle.Request{Now: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(explain.Printer{}.SettlementMessage(answer))
	fmt.Print(explain.Printer{}.SettlementText(answer))
	// Output:
	// To leave: ns/sweep; still over: 1 h100/nvidia.com/gpu of queue "vision"; more may leave at 2026-03-01T12:09:00.000000001Z
	// To leave: ns/sweep.
	// Still over: 1 h100/nvidia.com/gpu of queue "vision".
	//
	// queue "vision": 4 h100/nvidia.com/gpu over
	//   ns/sweep leaves: it runs in the queue, which uses more than it may
	//
	// queue "vision": 1 h100/nvidia.com/gpu over without the victims above
	//   it may leave at 12:09:00.000000001
	//   queue "vision", ns/notebook stays: its minimum runtime against preemption in
	//     its queue, set by the default, is not over, until 12:09:00
}
