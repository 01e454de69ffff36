package cycle_test

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
)

// schedule runs cycles until another one would change nothing. It returns what runs and what
// waits then.
func schedule(admission *cycle.Cycle, snapshot *preemption.Snapshot, pending *queue.Pending, now time.Time) (*preemption.Snapshot, *queue.Pending, error) {
	for again := true; again; {
		result, err := admission.Run(snapshot, pending.Heads(), now) // per head: Admit, Preempt, Gated, Wait, Inadmissible
		if err != nil {
			return snapshot, pending, err
		}
		// Heads are admitted, victims are told to stop, no victim twice; other heads go back by StrictFIFO or BestEffortFIFO.
		if snapshot, pending, err = result.Apply(snapshot, pending, now); err != nil {
			return snapshot, pending, err
		}
		again = result.Again
	}
	return snapshot, pending, nil
}

// A loop around cycles: one head is admitted; the other waits until its victim has left.
func Example_loop() {
	policy := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	state := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{
		{Name: "a", Cohort: "root", Quotas: gpus(4), Preemption: policy}, {Name: "b", Cohort: "root", Quotas: gpus(4), Preemption: policy},
	}}
	state.Admitted = append(state.Admitted, job("borrower", "b", 0, 3, 60), job("other", "b", 5, 3, 60))
	snapshot, _ := preemption.NewSnapshot(state)
	admission, _ := cycle.New(cycle.Config{})
	pending, _ := queue.NewPending(state.Cohorts, state.Queues)
	pending = pending.AlikeBy(admission.Alike) // matters with rules of your own
	pending, _ = pending.Add(job("reclaims", "a", 0, 3, 10))
	pending, _ = pending.Add(job("fits", "b", 0, 1, 5))

	snapshot, pending, err := schedule(admission, snapshot, pending, now)
	_, runs := snapshot.Find("fits")
	_, _, waits := pending.Find("reclaims")
	fmt.Println("fits runs:", runs, "reclaims waits:", waits, "told to stop:", snapshot.Terminating(), err)

	// The victim is gone: its quota is free, and whoever was inadmissible is asked again.
	snapshot, _ = snapshot.With(preemption.Remove("borrower"))
	pending = pending.Release("b")
	snapshot, _, err = schedule(admission, snapshot, pending, now)
	_, runs = snapshot.Find("reclaims")
	fmt.Println("reclaims runs:", runs, err)
	// Output:
	// fits runs: true reclaims waits: true told to stop: [borrower] <nil>
	// reclaims runs: true <nil>
}
