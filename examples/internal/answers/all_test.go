package answers

import (
	"context"
	"fmt"
	"reflect"
	"slices"
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
	for within, distinct := range map[queue.VictimPolicy]int{queue.LowerPriority: 6, queue.LowerOrNewerEqualPriority: 7} {
		c := crowd(t, within)
		list := c.Waiting(nil)
		told := 0
		got, err := c.ShortenAll(context.Background(), list, 0, func(i int, s *Short) {
			if i != told || s == nil {
				t.Errorf("%v: told %v about %d, want an answer about %d", within, s, i, told)
			}
			told++
		})
		if err != nil || told != len(list) {
			t.Fatal(told, err)
		}
		different := map[*Short]bool{}
		for i := range list {
			want, err := c.Shorten(&list[i])
			if err != nil || !reflect.DeepEqual(*got[i], want) {
				t.Errorf("%v: %s: %+v, alone %+v, %v", within, list[i].Workload.ID, *got[i], want, err)
			}
			different[got[i]] = true
		}
		if len(different) != distinct {
			t.Errorf("%v: %d decided about, want %d", within, len(different), distinct)
		}
	}
}

// With a limit the first of each queue are answered about, the same ones each time, and a text about a workload does
// not depend on the limit. When the context ends, the answers so far are kept.
func TestLimitOfAnswers(t *testing.T) {
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
	whole, err := c.ShortenAll(context.Background(), list, 0, func(int, *Short) {})
	if err != nil {
		t.Fatal(err)
	}
	count := func(answers []*Short) int {
		return len(answers) - len(slices.DeleteFunc(slices.Clone(answers), func(s *Short) bool { return s == nil }))
	}
	for _, limit := range []int{1, 20, 1000} {
		var first []*Short
		for range 3 {
			got, err := c.ShortenAll(context.Background(), list, limit, func(int, *Short) {})
			if err != nil || first != nil && !reflect.DeepEqual(got, first) {
				t.Fatalf("limit %d: %v, then %v, %v", limit, first, got, err)
			}
			first = got
		}
		for i, s := range first {
			if s != nil && !reflect.DeepEqual(s, whole[i]) || s == nil && (list[i].Position == 1 && limit > 1 || limit == 1000) {
				t.Errorf("limit %d: %s: %v, want %v", limit, list[i].Workload.ID, s, whole[i])
			}
		}
		if limit < 1000 && count(first) == 0 {
			t.Errorf("limit %d: all were looked at", limit)
		}
	}
	ctx, end := context.WithCancel(context.Background())
	got, err := c.ShortenAll(ctx, list, 0, func(i int, _ *Short) {
		if i == 4 {
			end()
		}
	})
	if err != nil || !reflect.DeepEqual(got[:5], whole[:5]) || count(got) != len(list)-5 {
		t.Errorf("ended: %v, %v", got, err)
	}
}

// A text names some victims, however many there are.
func TestWhoIsShort(t *testing.T) {
	var many []preemption.Victim
	for i := range 5000 {
		many = append(many, preemption.Victim{Workload: fmt.Sprint("w", i), Queue: fmt.Sprint("q", max(0, i-10)%100), Leaving: i == 0})
	}
	for n, want := range map[int]string{1: "w0 (leaving already)", 2: "2 (1 leaving already): w0, w1", 5: "5 (1 leaving already) of queue q0",
		5000: "5000 (1 leaving already): 60 of queue q0, 50 of queue q1, 50 of queue q10, 50 of queue q11 and 4790 of others"} {
		if got := Who(many[:n]); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
