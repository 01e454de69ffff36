package preemption_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The sentences of docs/stability.md, What Stable does, beside the derivations of it. In the
// lab queues a and b have 2 each.
func TestStable(t *testing.T) {
	stable := preemption.Config{Sharing: preemption.Stable}
	lab := func(within, reclaim queue.VictimPolicy, admitted ...workload.Workload) preemption.State {
		policy := queue.PreemptionPolicy{WithinClusterQueue: within, ReclaimWithinCohort: reclaim}
		if within == queue.LowerOrNewerEqualPriority {
			policy.MinAdmitDuration = quota.Some(10 * time.Minute)
		}
		return preemption.State{Cohorts: []queue.Cohort{{Name: "lab"}}, Admitted: admitted, Queues: []queue.Queue{
			{Name: "a", Cohort: "lab", Quotas: gpus(2), Preemption: policy}, {Name: "b", Cohort: "lab", Quotas: gpus(2), Preemption: policy},
		}}
	}
	evicted := job("small", "b", 0, 2, started(1))
	evicted.Evicted = true
	other := job("other", "a", 0, 2, started(1))
	old := job("old", "b", 5, 2, started(60))
	for _, c := range []struct {
		about  string
		config preemption.Config
		state  preemption.State
		asks   preemption.Request
		want   string
	}{
		{"a borrower does not preempt who is within the quota", stable,
			lab(queue.LowerPriority, queue.Any, job("small", "b", 0, 2, started(1)), other), pending("b", 5, 3),
			"Impossible: FairShare b small, WithinNominal a"},
		{"it does where no queue reclaims from any priority", stable,
			lab(queue.LowerPriority, queue.LowerPriority, job("small", "b", 0, 2, started(1))), pending("b", 5, 3),
			"Preempt: small InClusterQueue"},
		{"who is being evicted yields", stable,
			lab(queue.LowerPriority, queue.Any, evicted), pending("b", 5, 3),
			"Preempt: small InClusterQueue"},
		{"who yields because its time is over does", stable,
			lab(queue.LowerOrNewerEqualPriority, queue.Any, old), pending("b", 5, 3),
			"Preempt: old InClusterQueueTimeBased"},
		{"who is kept anyway does not count where first candidates decide between equal shares", stable, func() preemption.State {
			kept := job("kept", "c", 5, 1, started(1))
			kept.LocalQueue, kept.PodSets[0].Requests[0].Amount = "x", 0
			st := lab(queue.LowerPriority, queue.Any, job("middle", "b", 0, 2, started(1)), job("low", "c", -1, 2, started(1)), kept)
			st.Queues[0].Quotas, st.Queues[1].Quotas = gpus(4), gpus(0)
			st.Queues = append(st.Queues, st.Queues[1])
			st.Queues[2].Name = "c"
			return st
		}(), func() preemption.Request {
			r := pending("a", 5, 2)
			r.LocalQueueUsage = []queue.LocalQueueUsage{{LocalQueue: "x", Usage: 0.5}}
			return r
		}(), "Preempt: low InCohortReclamation"},
		{"what is not asked, and no queue of the tree has, is not borrowed", stable, func() preemption.State {
			st := lab(queue.LowerPriority, queue.Any, job("first", "b", 0, 2, started(5)), job("more", "b", 0, 2, started(1)))
			st.Queues[0].Reserved = []quota.Amount{{Flavor: "h100", Resource: "cpu", Amount: 1}}
			return st
		}(), func() preemption.Request {
			r := pending("a", 0, 2)
			r.Workload.PodSets[0].Requests = append(r.Workload.PodSets[0].Requests, quota.Amount{Flavor: "h100", Resource: "cpu"})
			return r
		}(), "Preempt: more InCohortReclamation"},
	} {
		if d := decideWith(t, c.config, snapshotOf(t, c.state), c.asks); text(d) != c.want {
			t.Errorf("%s: %s, want %s", c.about, text(d), c.want)
		}
	}
	st, r := lab(queue.LowerPriority, queue.Any, job("small", "b", 0, 2, started(1)), other), pending("b", 5, 3)
	r.Workload.PodSets[0].Count = 2 // not a borrower
	d := decideWith(t, stable, snapshotOf(t, st), r)
	if text(d) != "Preempt: small InClusterQueue" || verify.Decision(st, r, stable, d) != nil {
		t.Errorf("within the quota: %s, %v", text(d), verify.Decision(st, r, stable, d))
	}
	large := job("large", "b", 5, 4, started(1))
	large.Queued = started(1)
	st, r = lab(queue.LowerOrNewerEqualPriority, queue.Any, large), pending("b", 5, 3)
	st.Queues[1].Preemption.MinAdmitDuration = quota.OptionalDuration{}
	r.Workload.Queued = started(30)
	if d = decideWith(t, stable, snapshotOf(t, st), r); text(d) != "Impossible: FairShare b large" {
		t.Errorf("a newer equal that leaves the queue a smaller share: %s", text(d))
	}
	st, r = lab(queue.LowerPriority, queue.Any, job("small", "b", 0, 2, started(1))), pending("b", 5, 3)
	d = decideWith(t, preemption.Config{Sharing: preemption.Fair}, snapshotOf(t, st), r)
	if err := verify.Decision(st, r, stable, d); err == nil || !strings.Contains(err.Error(), `decision.victims[0]: "small" may take its place back`) {
		t.Errorf("Verify of %s: %v", text(d), err)
	}
}

// An answer about one equal may be right, and about two not: each queue keeps as large a share
// as the preemptor's.
func TestVerifyStableShares(t *testing.T) {
	policy := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	st := preemption.State{
		Cohorts:  []queue.Cohort{{Name: "lab", Quotas: gpus(6)}},
		Queues:   []queue.Queue{{Name: "a", Cohort: "lab", Quotas: gpus(0), Preemption: policy}, {Name: "b", Cohort: "lab", Quotas: gpus(0), Preemption: policy}},
		Admitted: []workload.Workload{job("b1", "b", 0, 2, started(9)), job("b2", "b", 0, 2, started(5)), job("b3", "b", 0, 2, started(1))},
	}
	r := pending("a", 0, 3)
	initial := preemption.Config{Sharing: preemption.Fair, Strategies: []preemption.FairStrategy{preemption.LessThanInitialShare}}
	d := decideWith(t, initial, snapshotOf(t, st), r)
	if len(d.Victims) != 2 {
		t.Fatalf("%s", text(d))
	}
	stable := initial
	stable.Sharing = preemption.Stable
	if err := verify.Decision(st, r, stable, d); err == nil || !strings.Contains(err.Error(), `may take its place back`) {
		t.Errorf("Verify of %s: %v", text(d), err)
	}
	if d := decideWith(t, stable, snapshotOf(t, st), r); text(d) != "Impossible: FairShare b b3" {
		t.Errorf("%s", text(d))
	}
}

// A surplus replica of an equal leaves its queue the share of the others.
func TestStableSurplus(t *testing.T) {
	elastic := job("elastic", "b", 0, 1, started(9))
	elastic.PodSets[0].Count, elastic.PodSets[0].MinCount = 6, workload.AtLeast(5)
	policy := queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}
	st := preemption.State{
		Cohorts:  []queue.Cohort{{Name: "lab", Quotas: gpus(6)}},
		Queues:   []queue.Queue{{Name: "a", Cohort: "lab", Quotas: gpus(0), Preemption: policy}, {Name: "b", Cohort: "lab", Quotas: gpus(0), Preemption: policy}},
		Admitted: []workload.Workload{elastic},
	}
	d := decideWith(t, preemption.Config{Sharing: preemption.Stable}, snapshotOf(t, st), pending("a", 0, 1))
	if len(d.Victims) != 1 || len(d.Victims[0].Replicas) != 1 || d.Victims[0].Replicas[0].Count != 1 {
		t.Errorf("%s", text(d))
	}
}

func TestStableIsValidated(t *testing.T) {
	_, err := preemption.New(preemption.Config{Sharing: preemption.Stable, Compat: preemption.Compat{Kueue016: true}})
	if err == nil || err.Error() != "config.Compat.Kueue016: is set, but Sharing is Stable" {
		t.Error(err)
	}
}

// "It makes no difference in which order the victims go": one whose time is over goes beside an
// equal of the own queue that the share permits only as long as the first is there. The law of
// the best set found this state.
func TestStableHasNoOrder(t *testing.T) {
	data := must(os.ReadFile("testdata/stable-order.json"))(t)
	record := must(preemption.ParseRecord(data))(t)
	for _, c := range searches {
		c.Sharing = preemption.Stable
		d := decideWith(t, c, snapshotOf(t, record.State), *record.Request)
		if d.Outcome != preemption.Preempt || len(d.Victims) != 3 {
			t.Errorf("%v: %v, %v; want all three", searchOf(c), d.Outcome, d.Victims)
		}
		verified(t, record.State, *record.Request, c, d)
	}
}

// A workload of which a replica yields first goes whole: the shares count once what of it leaves now, and what was leaving as if it stayed.
func TestStableTakesAllOfAWorkload(t *testing.T) {
	record := must(preemption.ParseRecord(must(os.ReadFile("testdata/stable-whole.json"))(t)))(t)
	c := preemption.Config{Sharing: preemption.Stable}
	d := decideWith(t, c, snapshotOf(t, record.State), *record.Request)
	if d.Outcome != preemption.Preempt || len(d.Victims) != 1 || d.Victims[0].Replicas != nil {
		t.Errorf("%v, %v", d.Outcome, d.Victims)
	}
	agrees(t, c, record.State, *record.Request, d)
}

// circles is small clusters in which workloads were seen to evict each other for ever,
// each with a configuration; loops says whether they still do. Two causes are known: who
// is entitled to its nominal quota is judged in what needs preemption alone, so that one
// that borrows of something else reclaims as if it did not; and victims that are no longer
// justified once others were put back.
var circles = []struct {
	record string
	config preemption.Config
	loops  bool
}{
	{"loop-2-fair", preemption.Config{Sharing: preemption.Fair}, true},
	{"loop-3-fair", preemption.Config{Sharing: preemption.Fair}, true},
}

// TestCircles fails for one that begins to loop, and for one that no longer does, so that
// the list stays right.
func TestCircles(t *testing.T) {
	files, _ := filepath.Glob("testdata/loop-*.json")
	if len(files) != len(circles) {
		t.Errorf("%d records, %d of them listed", len(files), len(circles))
	}
	for _, c := range circles {
		t.Run(c.record, func(t *testing.T) {
			record := readRecord(t, "testdata/"+c.record+".json")
			steps, loops := playOn(t, c.config, record)
			if loops != c.loops {
				t.Errorf("loops: %v, listed as %v:\n%s", loops, c.loops, strings.Join(steps, "\n"))
			}
			stable := c.config
			stable.Sharing = preemption.Stable
			if steps, loops := playOn(t, stable, record); loops {
				t.Errorf("with Stable it loops:\n%s", strings.Join(steps, "\n"))
			}
		})
	}
}

// TestCircleOfAny: in each of two queues a small workload has its nominal quota back from
// the other queue's large one, which is of higher priority; and the large one of its own
// queue, which borrows, takes its place. LowerPriority closes that, by which nobody has
// anything back from one of higher priority, and so does Stable, by which nobody who borrows
// takes from the nominal quota of his own queue; fair sharing does not, not even as strict as can be.
func TestCircleOfAny(t *testing.T) {
	strict := preemption.Config{Sharing: preemption.Fair, Search: preemption.Best, Best: preemption.BestSearch{Steps: -1}, Compat: preemption.Compat{Kueue016: true}}
	for _, c := range []preemption.Config{{}, {Sharing: preemption.Fair}, strict, {Sharing: preemption.Stable}} {
		for _, reclaim := range []queue.VictimPolicy{queue.LowerPriority, queue.Any} {
			want := reclaim == queue.Any && c.Sharing != preemption.Stable
			policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: reclaim}
			st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{
				{Name: "a", Cohort: "root", Quotas: gpus(2), Preemption: policy},
				{Name: "b", Cohort: "root", Quotas: gpus(2), Preemption: policy},
			}}
			steps, loops := playAll(t, c, st,
				job("a/large", "a", 5, 3, now), job("a/small", "a", 0, 2, now),
				job("b/large", "b", 5, 3, now), job("b/small", "b", 0, 2, now))
			if loops != want {
				t.Errorf("%v, %v: loops %v, want %v:\n%s", c.Sharing, reclaim, loops, want, strings.Join(steps, "\n"))
			}
		}
	}
}

func readRecord(t *testing.T, name string) (r preemption.Record) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || r.Request == nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// playOn plays a record: its workload waits.
func playOn(t *testing.T, c preemption.Config, record preemption.Record) (steps []string, loops bool) {
	return playAll(t, c, record.State, record.Request.Workload)
}

// playAll lets the waiting workloads ask in queue order.
func playAll(t *testing.T, c preemption.Config, st preemption.State, waiting ...workload.Workload) (steps []string, loops bool) {
	s := start{st, waiting, c}
	steps, _, loops = s.play(t, func(int) int { return 0 })
	return steps, loops
}
