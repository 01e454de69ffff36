package preemption_test

import (
	"os"
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
		if err := verify.Decision(record.State, *record.Request, c, d); err != nil {
			t.Errorf("%v: %v", searchOf(c), err)
		}
	}
}
