package preemption_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var twelve = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// gpuPods is a pod set of n pods with a GPU of flavor h100 each.
func gpuPods(n int64) []workload.PodSet {
	return []workload.PodSet{{Name: "main", Count: n, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}}}
}

// lab is a queue of 8 GPUs in which two workloads run: "a" since 11:00, "b" since 11:59.
func lab() *preemption.Snapshot {
	s, err := preemption.NewSnapshot(preemption.State{
		Queues: []queue.Queue{{Name: "lab", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 8}},
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
			MinRuntime: minruntime.Settings{Preempt: quota.Some(30 * time.Minute)}}},
		Admitted: []workload.Workload{
			{ID: "a", Queue: "lab", Priority: 2, ReservedAt: twelve.Add(-time.Hour), PodSets: gpuPods(4)},
			{ID: "b", Queue: "lab", Priority: 1, ReservedAt: twelve.Add(-time.Minute), PodSets: gpuPods(4)},
		},
	})
	if err != nil {
		panic(err)
	}
	return s
}

// urgent asks for n GPUs in the queue lab.
func urgent(n int64) preemption.Request {
	return preemption.Request{Workload: workload.Workload{ID: "urgent", Queue: "lab", Priority: 9, PodSets: gpuPods(n)}, Now: twelve}
}

// "b" is under its minimum runtime of half an hour: with 4 GPUs "a" yields, for 8 the request
// waits until "b" may yield, too.
func ExamplePreemptor_Decide() {
	for _, n := range []int64{4, 8} {
		d, err := new(preemption.Preemptor).Decide(lab(), urgent(n))
		fmt.Println(d.Outcome, len(d.Victims), err)
		for _, b := range d.Blockers {
			fmt.Println("blocked by", b.Workload, b.Rule, "until", b.Until.Format(time.TimeOnly))
			fmt.Println("ask again at", d.RetryAt.Format("15:04:05.000000000"))
		}
	}
	// Output:
	// Preempt 1 <nil>
	// Wait 0 <nil>
	// blocked by b GuaranteedRuntime until 12:29:00
	// ask again at 12:29:00.000000001
}

// Edits change a copy. An edit that fails changes nothing: the receiver comes back.
func ExampleSnapshot_With() {
	before := lab()
	after, err := before.With(preemption.Remove("a"), preemption.StartEviction("b"))
	fmt.Println(after.Terminating(), err)
	same, err := before.With(preemption.Remove("a"), preemption.Remove("stranger"))
	fmt.Println(same == before, err)
	// Output:
	// [b] <nil>
	// true edits[1]: no workload "stranger" is admitted
}

// What runs is walked by ID, without a copy of the whole state.
func ExampleSnapshot_Workloads() {
	for w := range lab().Workloads() {
		fmt.Println(w.ID, w.Priority, w.ReservedAt.Format(time.TimeOnly))
	}
	// Output:
	// a 2 11:00:00
	// b 1 11:59:00
}

// Sync follows a whole state, and tells what changed.
func ExampleSnapshot_Sync() {
	before := lab()
	st := before.State()
	st.Admitted = st.Admitted[:1]
	after, edits, err := before.Sync(st)
	_, runs := after.Find("b")
	fmt.Println(runs, len(edits), err)
	// Output:
	// false 1 <nil>
}

// The numbers of a queue, for those who show them.
func ExampleSnapshot_QueueStatus() {
	rows, _ := lab().QueueStatus("lab")
	for _, r := range rows {
		fmt.Printf("%s/%s: nominal %d, usage %d, available %d\n", r.Flavor, r.Resource, r.Nominal, r.Usage, r.Available)
	}
	// Output:
	// h100/gpu: nominal 8, usage 8, available 0
}

// Every fault comes back at once, with its path.
func ExampleNewSnapshot() {
	_, err := preemption.NewSnapshot(preemption.State{
		Queues: []queue.Queue{{Name: "lab", Cohort: "lab", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: -1}}}},
	})
	fmt.Println(err)
	_, err = preemption.ParseState([]byte(`{"queues": [{"name": "lab", "colour": "red"}]}`))
	fmt.Println(err)
	// Output:
	// queues[0].cohort: unknown cohort "lab" (queue "lab"); queues[0].quotas[0].nominal: -1 is negative (queue "lab")
	// preemption: queues[0].colour: unknown field "colour"
}

// pinned keeps workloads whose name says so.
type pinned struct{}

func (pinned) Verdict(running workload.Workload, _ preemption.Request) preemption.Verdict {
	if strings.HasSuffix(running.ID, "-pinned") {
		return preemption.NeverYields()
	}
	return preemption.MayYield()
}

// A guard is a rule of your own. A blocker names it as any other.
func ExampleGuard() {
	s, _ := lab().With(preemption.Remove("a"), preemption.Admit(
		workload.Workload{ID: "a-pinned", Queue: "lab", ReservedAt: twelve.Add(-time.Hour), PodSets: gpuPods(4)}))
	p, err := preemption.New(preemption.Config{Guards: []preemption.Guard{pinned{}}})
	d, _ := p.Decide(s, urgent(8))
	fmt.Println(d.Outcome, err)
	for _, b := range d.Blockers {
		fmt.Println(b.Workload, b.Rule)
	}
	// Output:
	// Impossible <nil>
	// a-pinned Guarded
}

// A request without flavors gets them: here the first has no room, and the second is free.
func ExampleAssignment() {
	s, err := preemption.NewSnapshot(preemption.State{
		Queues: []queue.Queue{{Name: "lab", Quotas: []quota.Quota{
			{Flavor: "h100", Resource: "gpu", Nominal: 2}, {Flavor: "a100", Resource: "gpu", Nominal: 8}}}},
	})
	if err != nil {
		panic(err)
	}
	d, err := new(preemption.Preemptor).Decide(s, preemption.Request{Now: twelve, Workload: workload.Workload{
		ID: "any", Queue: "lab", PodSets: []workload.PodSet{{Name: "main", Count: 4, Requests: []quota.Amount{{Resource: "gpu", Amount: 1}}}}}})
	fmt.Println(d.Outcome, err)
	for _, c := range d.Assignment {
		for _, tried := range c.Tried {
			fmt.Println(tried.Flavor, tried.Mode)
		}
		fmt.Println("assigned:", c.Flavor)
	}
	// Output:
	// Fits <nil>
	// h100 NoFit
	// a100 Fit
	// assigned: a100
}

// What preemption could do for an amount, without choosing victims.
func ExamplePreemptor_Forecast() {
	f, err := new(preemption.Preemptor).Forecast(lab(), urgent(4), quota.Amount{Flavor: "h100", Resource: "gpu", Amount: 4})
	fmt.Println(f.Possibility, err)
	// Output:
	// Preempt <nil>
}

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

// A caller that wants the faults one by one unwraps the list.
func ExampleFaults() {
	err := queue.Validate(nil, []queue.Queue{{Name: ""}, {Name: "lab", Cohort: "lab", Preemption: queue.PreemptionPolicy{WithinClusterQueue: 9}}})
	var list preemption.Faults
	fmt.Println(errors.As(err, &list))
	for _, f := range list {
		fmt.Println(f.Path)
	}
	// Output:
	// true
	// queues[0].name
	// queues[1].cohort
	// queues[1].preemption.withinClusterQueue
}
