package preemption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// However many queues contend, the sums refuse only what does not fit.
func TestFairAmongManyQueues(t *testing.T) {
	var names []string
	for i := range 80 {
		names = append(names, fmt.Sprintf("q%02d", i))
	}
	st := borrowers(fairPolicy, append(names, "a")...)
	st.Queues[0].Quotas = gpus(160)
	for _, name := range names {
		st.Admitted = append(st.Admitted, job(name+"/1", name, 0, 1, started(5)), job(name+"/2", name, 0, 1, started(6)))
	}
	if got, want := fairText(t, preemption.Config{}, st, pending("a", 0, 1)), "Preempt: q00/1 InCohortFairSharing"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	c := preemption.Config{Sharing: preemption.Fair}
	st.Queues[1].Preemption = queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority}
	d := decideWith(t, c, snapshotOf(t, st), pending("q00", 0, 1)) // nobody is of lower priority
	if d.Outcome != preemption.Impossible || len(d.Shortage) != 1 || d.Shortage[0].Missing != 1 || len(d.Blockers) == 0 {
		t.Errorf("%+v", d)
	}
}

// noRoom has a place for nobody.
type noRoom struct{}

func (noRoom) Remove(string)  {}
func (noRoom) Restore(string) {}
func (noRoom) Fits() bool     { return false }

// Where no policy lets anybody yield, a request without room is impossible, now and later.
func TestNoRoomWithoutDonors(t *testing.T) {
	r := pending("a", 0, 1)
	r.Room = noRoom{}
	d := decide(t, snapshotOf(t, preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4)}}}), r)
	if d.Outcome != preemption.Impossible || !d.NoRoom {
		t.Errorf("%+v", d)
	}
}

// The surplus of an elastic workload is a part of it, not more: here both workloads have to
// go, and the later end counts.
func TestRetryAtCountsSurplusOnce(t *testing.T) {
	first, second := job("first", "a", 0, 0, started(30)), job("second", "a", 1, 4, started(10))
	first.PodSets[0].Count, first.PodSets[0].Requests[0].Amount, first.PodSets[0].MinCount = 4, 1, workload.AtLeast(2)
	q := queue.Queue{
		Name: "a", Quotas: gpus(8), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		MinRuntime: minruntime.Settings{Preempt: quota.Some(time.Hour)},
	}
	s := snapshotOf(t, preemption.State{Queues: []queue.Queue{q}, Admitted: []workload.Workload{first, second}})
	var asked []string
	for _, guards := range [][]preemption.Guard{nil, {recorder{&asked, -1}}} {
		d := decideWith(t, preemption.Config{Guards: guards}, s, pending("a", 10, 6))
		if want := started(10).Add(time.Hour + 1); d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
			t.Errorf("%d guards: %v until %v, want to wait until %v", len(guards), d.Outcome, d.RetryAt, want)
		}
	}
}

// The time of an equal without reservation is never over: it counts as reserved just now.
func TestUnreservedEqualsNeverExpire(t *testing.T) {
	old := job("old", "a", 10, 4, started(90))
	old.ReservedAt = time.Time{}
	for _, evicted := range []bool{false, true} {
		old.Evicted = evicted
		d := decide(t, snapshotOf(t, shared(time.Hour, old)), at(0, 4))
		if d.Outcome != preemption.Impossible || !d.RetryAt.IsZero() {
			t.Errorf("evicted %v: %v until %v", evicted, d.Outcome, d.RetryAt)
		}
	}
}
