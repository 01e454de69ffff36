package preemption_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var small = preemption.State{
	Cohorts: []queue.Cohort{{Name: "c"}},
	Queues: []queue.Queue{
		{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: reclaims}, {Name: "b", Cohort: "c", Quotas: gpus(4)},
	},
	Admitted: []workload.Workload{job("a1", "a", 0, 4, started(5)), job("b1", "b", 5, 2, started(1))},
}

func wantFaults(t *testing.T, err error, want ...string) {
	t.Helper()
	var faults fault.List
	if !errors.As(err, &faults) || len(faults) != len(want) {
		t.Errorf("got %v, want %d faults", err, len(want))
		return
	}
	for i, f := range faults {
		if !strings.HasPrefix(f.Error(), want[i]) {
			t.Errorf("got %q, want %q", f, want[i])
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is more than one line", err)
	}
}

func TestNewSnapshotReportsEveryFault(t *testing.T) {
	st := cloneState(small)
	st.Queues[0].Quotas[0].Nominal = -4
	st.Queues[1].Cohort = "nowhere"
	st.Admitted = append(st.Admitted, job("a1", "gone", 0, 1, started(1)), job("n", "a", 0, -1, started(1)))
	_, err := preemption.NewSnapshot(st)
	wantFaults(t, err,
		`queues[0].quotas[0].nominal: -4 is negative (queue "a")`,
		`queues[1].cohort: unknown cohort "nowhere" (queue "b")`,
		`admitted[2].queue: unknown queue "gone" (workload "a1")`,
		`admitted[3].podSets[0].count: -1 is negative (workload "n")`,
		`admitted[2].id: "a1" is also the ID of admitted[0]`,
	)
	st = cloneState(small)
	st.Admitted = append(st.Admitted, job("h1", "b", 0, quota.MaxUsage, started(1)))
	_, err = preemption.NewSnapshot(st)
	wantFaults(t, err, `admitted: the usage of h100/gpu in queue "b" passes 4611686018427387904`)
}

func TestDecideReportsEveryFault(t *testing.T) {
	preemptor := new(preemption.Preemptor)
	s := snapshotOf(t, small)
	for name, c := range map[string]struct {
		change func(*preemption.Request)
		want   []string
	}{
		"unknown queue, no time": {
			func(r *preemption.Request) { r.Workload.Queue, r.Now = "x", time.Time{} },
			[]string{`request.workload.queue: unknown queue "x"`, "request.now: is not set"},
		},
		"admitted already": {
			func(r *preemption.Request) { r.Workload.ID = "a1" }, []string{`request.workload.id: "a1" is admitted already`},
		},
		"negative": {
			func(r *preemption.Request) { r.Workload.PodSets[0].Requests[0].Amount = -1 },
			[]string{"request.workload.podSets[0].requests[0].amount: -1 is negative"},
		},
		"another millennium": {
			func(r *preemption.Request) { r.Now = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC) },
			[]string{"request.now: 3000-01-01"},
		},
		"need without request": {
			func(r *preemption.Request) { r.NeedsPreemption = []quota.FlavorResource{{Flavor: "x", Resource: "y"}} },
			[]string{"request.needsPreemption[0]: x/y is not requested"},
		},
		"nothing": {func(r *preemption.Request) { *r = preemption.Request{} },
			[]string{"request.workload.id: is empty", "request.workload.queue: is empty", "request.now: is not set"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := pending("a", 10, 1)
			c.change(&r)
			d, err := preemptor.Decide(s, r)
			wantFaults(t, err, c.want...)
			if d.Outcome != 0 {
				t.Errorf("outcome %v beside an error", d.Outcome)
			}
		})
	}
}

func TestWithReportsEveryFault(t *testing.T) {
	s := snapshotOf(t, small)
	next, err := s.With(
		preemption.Admit(job("a1", "x", 0, 1, now)),
		preemption.Remove("nobody"),
		preemption.StartEviction("a1"),
		preemption.StartEviction("nobody"),
		preemption.SetCohort(queue.Cohort{Name: "c", Parent: "c"}),
		preemption.RemoveQueue("b"),
		preemption.Admit(job("big", "a", 0, quota.MaxUsage, now)),
		preemption.RemoveCohort("x"),
		preemption.RemoveQueue("y"),
		preemption.Admit(job("a1", "x", 0, 1, now)),
		preemption.Admit(job("", "a", 0, 1, now)),
		preemption.Admit(job("big", "a", 0, quota.MaxUsage, now)),
	)
	wantFaults(t, err,
		`edits[0].queue: unknown queue "x" (workload "a1")`,
		`edits[1]: no workload "nobody" is admitted`,
		`edits[3]: no workload "nobody" is admitted`,
		`edits[4:6]: cohorts[0].parent: cohorts ["c"] are a cycle`,
		`edits[4:6]: queue "b" has 1 admitted workloads`,
		`edits[6].podSets: the usage of h100/gpu in queue "a" passes`,
		`edits[7]: no cohort "x"`,
		`edits[8]: no queue "y"`,
		`edits[9].queue: unknown queue "x" (workload "a1")`,
		`edits[10].id: is empty`,
		`edits[11].podSets: the usage of h100/gpu in queue "a" passes`,
	)
	if next != s {
		t.Error("a failed edit returns another snapshot than its own")
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := preemption.New(preemption.Config{Search: 9})
	wantFaults(t, err, "config.Search: Search(9) is unknown")
}

// A flavor that no quota names has none: nothing helps, and nothing panics.
func TestUnknownFlavorIsImpossible(t *testing.T) {
	r := pending("a", 10, 1)
	r.Workload.PodSets[0].Requests = append(r.Workload.PodSets[0].Requests, quota.Amount{Flavor: "x", Resource: "y", Amount: 2})
	d := decide(t, snapshotOf(t, small), r)
	if d.Outcome != preemption.Impossible || len(d.Shortage) != 1 || d.Shortage[0].Missing != 2 || d.Shortage[0].Resource != "y" {
		t.Errorf("%+v", d)
	}
}

// The bound on blockers holds.
func TestMaxBlockers(t *testing.T) {
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "c"}}, Queues: []queue.Queue{{Name: "a", Cohort: "c"}}}
	for _, name := range []string{"e", "d", "c", "b"} {
		st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: "c", Quotas: gpus(1)})
		st.Admitted = append(st.Admitted, job(name+"1", name, 0, 1, started(1)))
	}
	p := must(preemption.New(preemption.Config{MaxBlockers: 2}))(t)
	d, err := p.Decide(snapshotOf(t, st), pending("a", 10, 1))
	if got := text(d); err != nil || got != "Impossible: WithinNominal b, WithinNominal c" {
		t.Errorf("%s, %v", got, err)
	}
	if d := decideWith(t, preemption.Config{MaxBlockers: -1}, snapshotOf(t, st), pending("a", 10, 1)); len(d.Blockers) > 0 {
		t.Errorf("%v, want none", d.Blockers)
	}
}

// Any number of goroutines may decide on a snapshot while its owner makes the next.
func TestConcurrentDecisions(t *testing.T) {
	preemptor := new(preemption.Preemptor)
	s := snapshotOf(t, small)
	want := decide(t, s, pending("a", 10, 2))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				d, err := preemptor.Decide(s, pending("a", 10, 2))
				if diff := cmp.Diff(want, d, sameDecision); err != nil || diff != "" {
					t.Errorf("%v %s", err, diff)
					return
				}
			}
		})
	}
	next := s
	for range 200 {
		next = edit(t, edit(t, next, preemption.Remove("b1")), preemption.Admit(small.Admitted[1]))
	}
	group.Wait()
}

func TestEnumText(t *testing.T) {
	for _, o := range []preemption.Outcome{preemption.Fits, preemption.Preempt, preemption.Wait, preemption.Impossible, preemption.Gated} {
		text, err := o.MarshalText()
		var again preemption.Outcome
		if err != nil || again.UnmarshalText(text) != nil || again != o {
			t.Errorf("%v: %s, %v", o, text, err)
		}
	}
	if _, err := preemption.Outcome(0).MarshalText(); err == nil {
		t.Error("the zero outcome has a text")
	}
	if err := new(preemption.VictimReason).UnmarshalText([]byte("Because")); err == nil {
		t.Error("Because is a reason")
	}
	if got := preemption.Rule(0).String(); got != "none" {
		t.Error(got)
	}
}

// A workload with the pod sets of an earlier one is checked like the first.
func TestEveryWorkloadIsChecked(t *testing.T) {
	beyond := time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)
	good := workload.Workload{ID: "good", Queue: "q", PodSets: []workload.PodSet{{Name: "main", Count: 1}}}
	for name, spoil := range map[string]func(*workload.Workload){
		"id":         func(w *workload.Workload) { w.ID = "" },
		"queue":      func(w *workload.Workload) { w.Queue = "" },
		"unknown":    func(w *workload.Workload) { w.Queue = "other" },
		"created":    func(w *workload.Workload) { w.Created = beyond },
		"queued":     func(w *workload.Workload) { w.Queued = beyond },
		"reservedAt": func(w *workload.Workload) { w.ReservedAt = beyond },
		"gates":      func(w *workload.Workload) { w.Gates.Names = []string{""} },
	} {
		bad := good.Clone()
		bad.ID = "bad"
		spoil(&bad)
		st := preemption.State{Queues: []queue.Queue{{Name: "q"}}, Admitted: []workload.Workload{bad}}
		_, alone := preemption.NewSnapshot(st)
		st.Admitted = []workload.Workload{good, bad}
		_, second := preemption.NewSnapshot(st)
		if alone == nil || second == nil || second.Error() != strings.ReplaceAll(alone.Error(), "admitted[0]", "admitted[1]") {
			t.Errorf("%s: alone: %v; after one with the same pod sets: %v", name, alone, second)
		}
	}
}
