package answers

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// crowd is a full queue, and workloads that wait there in pairs that differ in one thing alone.
func crowd(t *testing.T, within queue.VictimPolicy) *Cluster {
	now := SampleTime
	gpus := func(n int64) []workload.PodSet {
		return []workload.PodSet{{Name: "main", Count: n, Requests: []quota.Amount{{Resource: "gpu", Amount: 1}}}}
	}
	assigned := gpus(1)
	assigned[0].Requests = []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: 1}}
	c := &Cluster{Now: now, Config: preemption.Config{MaxBlockers: MaxBlockers}}
	c.State.Queues = []queue.Queue{{Name: "q", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 20}}, Preemption: queue.PreemptionPolicy{WithinClusterQueue: within}}}
	for i := range 20 {
		c.State.Admitted = append(c.State.Admitted, workload.Workload{ID: fmt.Sprint("run", i), Queue: "q", Priority: int64(i % 3), Queued: now.Add(time.Duration(i-20) * time.Minute), ReservedAt: now.Add(-time.Hour), PodSets: assigned})
	}
	wait := func(change func(*workload.Workload)) {
		w := workload.Workload{ID: fmt.Sprint("w", len(c.Found.Pending)), Queue: "q", Priority: 1, Queued: now.Add(-time.Hour), Created: now.Add(-time.Hour), PodSets: gpus(4)}
		change(&w)
		c.Found.Pending = append(c.Found.Pending, bridge.Pending{Workload: w})
	}
	for range 3 {
		wait(func(*workload.Workload) {})
		wait(func(w *workload.Workload) { w.Priority = 2 })
		wait(func(w *workload.Workload) { w.PriorityBoost = 1 })
		wait(func(w *workload.Workload) { w.PodSets = gpus(30) })
		wait(func(w *workload.Workload) { w.NeverPreempts = true })
		wait(func(w *workload.Workload) { w.Gates = gate.Gates{Names: []string{"g"}} })
		wait(func(w *workload.Workload) { w.Queued = now.Add(-10 * time.Minute) })
		wait(func(w *workload.Workload) { w.Labels = map[string]string{"a": w.ID} })
	}
	var err error
	if c.Snapshot, err = preemption.NewSnapshot(c.State); err != nil {
		t.Fatal(err)
	}
	if c.Preemptor, err = preemption.New(c.Config); err != nil {
		t.Fatal(err)
	}
	return c
}

// Answers that are shared are those that each workload gets alone, and workloads that nothing tells apart
// share one.
func TestSharedAnswersAreEachOnes(t *testing.T) {
	for within, distinct := range map[queue.VictimPolicy]int64{queue.LowerPriority: 6, queue.LowerOrNewerEqualPriority: 7} {
		c := crowd(t, within)
		list := c.Waiting(nil)
		var decided atomic.Int64
		got, err := c.ShortenAll(list, len(list), func() { decided.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			want, err := c.Shorten(&list[i])
			if err != nil || !reflect.DeepEqual(*got[i], want) {
				t.Errorf("%v: %s: %+v, alone %+v, %v", within, list[i].Workload.ID, *got[i], want, err)
			}
		}
		if decided.Load() != distinct {
			t.Errorf("%v: %d decided about, want %d", within, decided.Load(), distinct)
		}
	}
}

// At most so many different workloads are decided about, the first of each queue before the second.
func TestFirstOfEachQueueAreLookedAt(t *testing.T) {
	c := crowd(t, queue.LowerPriority)
	other := c.State.Queues[0]
	other.Name = "r"
	c.State.Queues = append(c.State.Queues, other)
	for i := range c.Found.Pending {
		if w := &c.Found.Pending[i].Workload; i%2 == 1 {
			w.Queue = "r"
		}
	}
	var err error
	if c.Snapshot, err = preemption.NewSnapshot(c.State); err != nil {
		t.Fatal(err)
	}
	list := c.Waiting(nil)
	got, err := c.ShortenAll(list, 2, func() {})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range got {
		first := list[i].Position == 1
		if first && s == nil {
			t.Errorf("%s, the first of %s, is not looked at", list[i].Workload.ID, list[i].Workload.Queue)
		}
	}
	if left := len(list) - len(slices.DeleteFunc(slices.Clone(got), func(s *Short) bool { return s == nil })); left == 0 {
		t.Error("all were looked at")
	}
}

// A text names some victims, however many there are.
func TestWhoIsShort(t *testing.T) {
	var many []preemption.Victim
	for i := range 5000 {
		many = append(many, preemption.Victim{Workload: fmt.Sprint("w", i), Leaving: i == 0})
	}
	for n, want := range map[int]string{1: "w0 (leaving already)", 2: "2 (1 leaving already): w0, w1", 5000: "5000 (1 leaving already): w0, w1, w2, w3, w4, w5, w6, w7, w8, w9 and 4990 more"} {
		if got := Who(many[:n]); got != want || strings.Count(got, "w") > 11 {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
