package settle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const gpu = "gpu"

// gpus is a quota with an optional borrowing limit.
func gpus(nominal int64, borrowing ...int64) []quota.Quota {
	q := quota.Quota{Flavor: "f", Resource: gpu, Nominal: nominal}
	if len(borrowing) > 0 {
		q.BorrowingLimit = quota.AtMost(borrowing[0])
	}
	return []quota.Quota{q}
}

// job runs since so many minutes; its queue is the letter that its ID begins with.
func job(id string, priority, amount int64, minutes int) workload.Workload {
	at := now.Add(-time.Duration(minutes) * time.Minute)
	return workload.Workload{ID: id, Queue: id[:1], Priority: priority, Created: at, Queued: at, ReservedAt: at, AdmittedAt: at,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: gpu, Amount: amount}}}}}
}

// elastic is a job of replicas of one GPU, of which all but least are surplus.
func elastic(id string, replicas, least int64) workload.Workload {
	w := job(id, 0, 1, 60)
	w.PodSets[0].Count, w.PodSets[0].MinCount = replicas, quota.Some(least)
	return w
}

func snapshot(t testing.TB, st preemption.State) *preemption.Snapshot {
	t.Helper()
	return must(preemption.NewSnapshot(st))(t)
}

func settled(t testing.TB, c preemption.Config, st preemption.State, r settle.Request) settle.Answer {
	t.Helper()
	p := must(preemption.New(c))(t)
	if r.Now.IsZero() {
		r.Now = now
	}
	return must(settle.Decide(p, snapshot(t, st), r))(t)
}

// told is an answer in a line: outcome, victims, what remains, when.
func told(a settle.Answer) string {
	text := []string{a.Outcome.String()}
	for _, v := range a.Victims {
		one := v.Workload
		for _, r := range v.Replicas {
			one += fmt.Sprintf("-%d", r.Count)
		}
		text = append(text, one)
	}
	for _, e := range a.Remaining {
		text = append(text, fmt.Sprintf("%s%s+%d", e.Queue, e.Cohort, e.Amount))
	}
	if !a.RetryAt.IsZero() {
		text = append(text, "more "+a.RetryAt.Sub(now).String())
	}
	return strings.Join(text, " ")
}

func TestDecide(t *testing.T) {
	ten := quota.Some(10 * time.Minute)
	never := job("a2", 0, 2, 30)
	never.NeverYields = true
	leaving := job("a2", 0, 2, 30)
	leaving.Evicted = true
	shared := func(a, b, c int64) []queue.Queue {
		return []queue.Queue{{Name: "a", Cohort: "all", Quotas: gpus(a)}, {Name: "b", Cohort: "all", Quotas: gpus(b)}, {Name: "c", Cohort: "all", Quotas: gpus(c)}}
	}
	for name, c := range map[string]struct {
		state  preemption.State
		config preemption.Config
		ask    settle.Request
		want   string
	}{
		"nothing is over": {
			state: preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4)}}, Admitted: []workload.Workload{job("a1", 0, 4, 1)}},
			want:  "Fits",
		},
		"a queue without policies gives its lowest priority first, then the newest": {
			state: preemption.State{
				Queues:   []queue.Queue{{Name: "a", Quotas: gpus(4)}},
				Admitted: []workload.Workload{job("a1", 5, 2, 9), job("a2", 0, 2, 30), job("a3", 0, 2, 20), job("a4", 1, 2, 1)},
			},
			want: "Preempt a2 a3",
		},
		"highest priority there is": {
			state: preemption.State{
				Queues:   []queue.Queue{{Name: "a", Quotas: gpus(2)}},
				Admitted: []workload.Workload{job("a1", 1<<63-1, 2, 9), job("a2", 1<<63-1, 2, 8)},
			},
			want: "Preempt a2",
		},
		"at least the excess, and no victim in vain": {
			state: preemption.State{
				Queues:   []queue.Queue{{Name: "a", Quotas: gpus(5)}},
				Admitted: []workload.Workload{job("a1", 0, 1, 1), job("a2", 1, 4, 9), job("a3", 2, 3, 9)},
			},
			want: "Preempt a2",
		},
		"what is leaving does not count": {
			state: preemption.State{
				Queues: []queue.Queue{{Name: "a", Quotas: gpus(4)}}, Admitted: []workload.Workload{job("a1", 0, 4, 9), leaving},
			},
			want: "Fits",
		},
		"surplus replicas before whole workloads": {
			state: preemption.State{
				Queues: []queue.Queue{{Name: "a", Quotas: gpus(4)}}, Admitted: []workload.Workload{elastic("a1", 5, 2), job("a2", 0, 2, 60)},
			},
			want: "Preempt a1-3",
		},
		"a lender takes its quota back: who borrows gives": {
			state: preemption.State{
				Cohorts: []queue.Cohort{{Name: "all"}}, Queues: shared(2, 2, 0),
				Admitted: []workload.Workload{job("a1", 0, 2, 9), job("b1", 0, 1, 9), job("b2", 9, 1, 8), job("b3", 9, 1, 7)},
			},
			want: "Preempt b1",
		},
		"a cohort below its borrowing limit": {
			state: preemption.State{
				Cohorts: []queue.Cohort{{Name: "all", Quotas: gpus(100)}, {Name: "team", Parent: "all", Quotas: gpus(0, 3)}},
				Queues:  []queue.Queue{{Name: "a", Cohort: "team", Quotas: gpus(1)}, {Name: "b", Cohort: "team", Quotas: gpus(1)}},
				Admitted: []workload.Workload{
					job("a1", 0, 1, 9), job("b1", 0, 3, 9), job("b2", 1, 2, 9),
				},
			},
			want: "Preempt b1",
		},
		"a queue over its borrowing limit, then its cohort": {
			state: preemption.State{
				Cohorts: []queue.Cohort{{Name: "all"}},
				Queues:  []queue.Queue{{Name: "a", Cohort: "all", Quotas: gpus(2, 1)}, {Name: "b", Cohort: "all", Quotas: gpus(2)}},
				Admitted: []workload.Workload{
					job("a1", 0, 1, 9), job("a2", 0, 1, 8), job("a3", 0, 2, 7), job("b1", 5, 1, 9), job("b2", 0, 2, 9),
				},
			},
			want: "Preempt a3 b2",
		},
		"the victims of a cohort may spare those of a queue below it": {
			state: preemption.State{
				Cohorts:  []queue.Cohort{{Name: "all"}},
				Queues:   []queue.Queue{{Name: "a", Cohort: "all", Quotas: gpus(2, 2)}},
				Admitted: []workload.Workload{job("a1", 0, 1, 9), job("a2", 1, 3, 9), job("a3", 2, 1, 9)},
			},
			want: "Preempt a2",
		},
		"as much as may leave, and when the rest may": {
			config: preemption.Config{MinRuntime: minruntime.Defaults{Preempt: ten}},
			state: preemption.State{
				Queues:   []queue.Queue{{Name: "a", Quotas: gpus(1)}},
				Admitted: []workload.Workload{job("a1", 0, 1, 20), job("a2", 0, 2, 9), job("a3", 0, 3, 8), job("a4", 1, 3, 30)},
			},
			want: "Preempt a1 a4 a+4 more 1m0.000000001s",
		},
		"a workload that never yields remains": {
			state: preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(1)}}, Admitted: []workload.Workload{job("a1", 0, 1, 20), never}},
			want:  "Preempt a1 a+1",
		},
		"nothing may leave": {
			state: preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(1)}}, Admitted: []workload.Workload{never}},
			want:  "Impossible a+1",
		},
		"time may help, and when is not looked for": {
			config: preemption.Config{MinRuntime: minruntime.Defaults{Preempt: ten}, MaxRetrySteps: -1},
			state:  preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(1)}}, Admitted: []workload.Workload{job("a1", 0, 2, 9)}},
			want:   "Wait a+1",
		},
		"a delay, from the cohort": {
			state: preemption.State{
				Cohorts: []queue.Cohort{{Name: "all"}}, Queues: shared(1, 0, 0), Admitted: []workload.Workload{job("a1", 0, 2, 9)},
			},
			ask: settle.Request{
				Delays: []settle.Delay{{For: time.Hour}, {Node: settle.Node{Cohort: "all"}, For: 5 * time.Minute}},
				Since:  []settle.Since{{Node: settle.Node{Cohort: "all"}, At: now.Add(-time.Minute)}},
			},
			want: "Wait all+1 more 4m0s",
		},
		"a delay that has passed": {
			state: preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(1)}}, Admitted: []workload.Workload{job("a1", 0, 2, 9)}},
			ask: settle.Request{
				Delays: []settle.Delay{{For: time.Minute}}, Since: []settle.Since{{Node: settle.Node{Queue: "a"}, At: now.Add(-time.Minute)}},
			},
			want: "Preempt a1",
		},
		"a delay beyond all time": {
			state: preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(1)}}, Admitted: []workload.Workload{job("a1", 0, 2, 9)}},
			ask:   settle.Request{Delays: []settle.Delay{{For: 1<<63 - 1}}},
			want:  "Wait a+1 more 2069723h47m16.854775807s",
		},
		"only the named nodes": {
			state: preemption.State{
				Queues:   []queue.Queue{{Name: "a", Quotas: gpus(1)}, {Name: "b", Quotas: gpus(1)}},
				Admitted: []workload.Workload{job("a1", 0, 2, 9), job("b1", 0, 2, 9)},
			},
			ask:  settle.Request{Nodes: []settle.Node{{Queue: "b"}}},
			want: "Preempt b1",
		},
		"at most so many victims": {
			state: preemption.State{
				Queues: []queue.Queue{{Name: "a", Quotas: gpus(1)}}, Admitted: []workload.Workload{job("a1", 0, 2, 9), job("a2", 0, 2, 8), job("a3", 0, 2, 7)},
			},
			ask:  settle.Request{MaxVictims: 1},
			want: "Preempt a3 a+3 more 0s",
		},
		"limits count the victims of all nodes": {
			config: preemption.Config{Limits: []limits.Limit{{Name: "one", Scope: limits.Global, Limit: 1, Window: quota.Some(time.Hour)}}},
			state: preemption.State{
				Queues:   []queue.Queue{{Name: "a", Quotas: gpus(1)}, {Name: "b", Quotas: gpus(1)}},
				Admitted: []workload.Workload{job("a1", 0, 2, 9), job("b1", 0, 2, 9)},
			},
			want: "Preempt a1 b+1 more 1h0m0s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(settled(t, c.config, c.state, c.ask)); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// "A queue gives only while it uses more of the column than its own quota": a borrows a GPU, and keeps its CPU. The judge refuses an
// answer that takes it.
func TestNoQueueLosesWhatIsItsOwn(t *testing.T) {
	of := func(name string, cpu int64) queue.Queue {
		return queue.Queue{Name: name, Cohort: "all", Quotas: []quota.Quota{
			{Flavor: "f", Resource: "cpu", Nominal: cpu}, {Flavor: "f", Resource: gpu},
		}}
	}
	runs := func(id, resource string, priority, amount int64) workload.Workload {
		w := job(id, priority, amount, 9)
		w.PodSets[0].Requests[0].Resource = resource
		return w
	}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}}, Queues: []queue.Queue{of("a", 3), of("b", 0)},
		Admitted: []workload.Workload{runs("a-cpu", "cpu", -1, 3), runs("a-gpu", gpu, 0, 1), runs("b-cpu", "cpu", 0, 3)},
	}
	for _, c := range []preemption.Config{{}, {Sharing: preemption.Fair}} {
		a := settled(t, c, st, settle.Request{})
		if got := told(a); got != "Preempt a-gpu b-cpu" {
			t.Errorf("%v: %s", c.Sharing, got)
		}
		a.Victims[1].Workload, a.Steps[0].Victims[0].Workload = "a-cpu", "a-cpu"
		a.Victims[0], a.Victims[1] = a.Victims[1], a.Victims[0]
		a.Steps[0].Victims[0].Queue = "a"
		if err := verify.Settlement(st, settle.Request{Now: now}, c, a); err == nil || !strings.Contains(err.Error(), "a-cpu") {
			t.Errorf("%v: the judge says %v", c.Sharing, err)
		}
	}
}
