package preemption_test

import (
	"os"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// borrowers is a cohort that lends ten, to queues without quota of their own.
func borrowers(policy queue.PreemptionPolicy, names ...string) preemption.State {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues:  []queue.Queue{{Name: "lender", Cohort: "c", Quotas: gpus(10)}},
	}
	for _, name := range names {
		st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: "c", Quotas: gpus(0), Preemption: policy})
	}
	return st
}

func fairText(t *testing.T, c preemption.Config, st preemption.State, r preemption.Request) string {
	t.Helper()
	c.Sharing = preemption.Fair
	d, err := preemptorOf(c).Decide(snapshotOf(t, st), r)
	if err != nil {
		t.Fatal(err)
	}
	return text(d)
}

var fairPolicy = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}

// Each row is a rule of fair sharing as Kueue documents and builds it.
func TestFairSharing(t *testing.T) {
	final := preemption.FairSharing{Strategies: []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare}}
	initial := preemption.FairSharing{Strategies: []preemption.FairStrategy{preemption.LessThanInitialShare}}
	st := borrowers(fairPolicy, "a", "b", "d")
	st.Admitted = []workload.Workload{
		job("b1", "b", 0, 3, started(5)), job("b2", "b", 0, 3, started(6)), job("d1", "d", 0, 4, started(4)),
	}
	for _, c := range []struct {
		rule   string
		config preemption.FairSharing
		gpus   int64
		want   string
	}{
		{"The queue with the largest share yields, whatever started later elsewhere.", preemption.FairSharing{}, 3, "Preempt: b1 InCohortFairSharing"},
		{"LessThanOrEqualToFinalShare: 3 is not more than the 3 that are left.", final, 3, "Preempt: b1 InCohortFairSharing"},
		{"LessThanOrEqualToFinalShare: 4 would be more.", final, 4, "Impossible: FairShare b b1, FairShare d d1"},
		{"LessThanInitialShare: 5 is less than the 6 before, and then not less than anybody's.", initial, 5, "Impossible: FairShare b b1, FairShare d d1"},
		{"LessThanInitialShare: 3 is less than 6.", initial, 3, "Preempt: b1 InCohortFairSharing"},
	} {
		if got := fairText(t, preemption.Config{Fair: c.config}, st, pending("a", 0, c.gpus)); got != c.want {
			t.Errorf("%s got %s, want %s", c.rule, got, c.want)
		}
	}
}

// A preemptor within its nominal quota takes from the largest share without a strategy;
// unless it is told not to.
func TestNominalEntitlement(t *testing.T) {
	st := borrowers(fairPolicy, "a", "b")
	st.Queues[0].Preemption = fairPolicy
	st.Queues[2].FairWeight = quota.WeightOf(1000)
	st.Admitted = []workload.Workload{job("b1", "b", 0, 10, started(5))}
	r := pending("lender", 0, 10)
	if got := fairText(t, preemption.Config{}, st, r); got != "Preempt: b1 InCohortReclamation" {
		t.Error(got)
	}
	c := preemption.Config{Fair: preemption.FairSharing{IgnoreNominalEntitlement: true}}
	if got := fairText(t, c, st, r); got != "Preempt: b1 InCohortFairSharing" {
		t.Error(got)
	}
}

// A borrower of weight zero yields before all others.
func TestZeroWeightYieldsFirst(t *testing.T) {
	st := borrowers(fairPolicy, "a", "b", "z")
	st.Queues[3].FairWeight = quota.WeightOf(0)
	st.Admitted = []workload.Workload{job("b1", "b", 0, 9, started(5)), job("z1", "z", 100, 1, started(500))}
	if got := fairText(t, preemption.Config{}, st, pending("a", 0, 1)); got != "Preempt: z1 InCohortFairSharing" {
		t.Error(got)
	}
	s := snapshotOf(t, st)
	z, _ := s.QueueShare("z")
	b, _ := s.QueueShare("b")
	if z.Compare(b.Share) <= 0 || z.DominantResource != "gpu" || b.Ratio != 900 {
		t.Errorf("%+v, %+v", z, b)
	}
}

// KEP-8522, integration scenario 8: with fair sharing, time-based preemption stays in
// the own queue.
func TestTimeStaysInTheOwnQueue(t *testing.T) {
	policy := queue.PreemptionPolicy{
		WithinClusterQueue: queue.LowerOrNewerEqualPriority, MinAdmitDuration: minruntime.For(time.Hour),
		ReclaimWithinCohort: queue.LowerPriority,
	}
	st := borrowers(policy, "a", "b")
	st.Admitted = []workload.Workload{job("old-b", "b", 10, 6, started(600)), job("old-a", "a", 10, 4, started(600))}
	if got := fairText(t, preemption.Config{}, st, at(0, 4)); got != "Preempt: old-a InClusterQueueTimeBased" {
		t.Error(got)
	}
	if got := fairText(t, preemption.Config{}, st, at(0, 5)); got != "Impossible: ReclaimWithinCohort b old-b" {
		t.Error(got)
	}
}

// A minimum runtime protects from fair sharing too, and says until when.
func TestMinRuntimeHoldsInFairSharing(t *testing.T) {
	st := borrowers(fairPolicy, "a", "b")
	st.Admitted = []workload.Workload{job("b1", "b", 0, 5, started(5)), job("b2", "b", 0, 5, started(90))}
	st.Queues[2].MinRuntime.Reclaim = minruntime.For(time.Hour)
	if got := fairText(t, preemption.Config{}, st, pending("a", 0, 5)); got != "Preempt: b2 InCohortFairSharing" {
		t.Error(got)
	}
	st.Admitted[1].ReservedAt = started(10)
	c := preemption.Config{Sharing: preemption.Fair}
	d, err := preemptorOf(c).Decide(snapshotOf(t, st), pending("a", 0, 5))
	if err != nil || d.Outcome != preemption.Wait || !d.RetryAt.Equal(now.Add(50*time.Minute+1)) {
		t.Errorf("%v until %v, %v", d.Outcome, d.RetryAt, err)
	}
}

// Fill-back takes the own-queue victim back that made the preemptor's share small enough
// to take b1 (7 against 6 without it); RecheckShares keeps it.
func TestRecheckShares(t *testing.T) {
	st := borrowers(fairPolicy, "a", "b")
	st.Admitted = []workload.Workload{
		job("a1", "a", 0, 2, started(5)), job("b1", "b", 0, 3, started(5)), job("b2", "b", 0, 3, started(6)),
	}
	r := pending("a", 1, 5)
	if got := fairText(t, preemption.Config{}, st, r); got != "Preempt: b1 InCohortFairSharing" {
		t.Error(got)
	}
	c := preemption.Config{Fair: preemption.FairSharing{RecheckShares: true}}
	if got := fairText(t, c, st, r); got != "Preempt: a1 InClusterQueue, b1 InCohortFairSharing" {
		t.Error(got)
	}
}

// Of the 7 of b, whose nominal is 6, the later 3 come first; then b borrows nothing, and
// the 4 that would do are passed over, but for ReconsiderLarger.
func TestReconsiderLarger(t *testing.T) {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: gpus(4), Preemption: reclaims},
			{Name: "b", Cohort: "c", Quotas: gpus(6)}, {Name: "important", Cohort: "c", Quotas: gpus(0)},
		},
		Admitted: []workload.Workload{
			job("large", "b", 0, 4, started(9)), job("small", "b", 0, 3, started(5)), job("kept", "important", 100, 3, started(1)),
		},
	}
	r := pending("a", 10, 4)
	for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
		for larger, want := range map[bool]preemption.Outcome{false: preemption.Impossible, true: preemption.Preempt} {
			d, err := preemptorOf(preemption.Config{Sharing: sharing, ReconsiderLarger: larger}).Decide(snapshotOf(t, st), r)
			if err != nil || d.Outcome != want || want == preemption.Preempt && text(d) != "Preempt: large InCohortReclamation" {
				t.Errorf("%v, %v: %s, %v", sharing, larger, text(d), err)
			}
		}
	}
}

// Whether the others are justified without a victim may change with every one that is
// given back: in the first record it takes a second look to see that w04 alone is enough. A
// workload that goes whole is one victim, with its surplus: in the second, w03 alone is.
func TestRecheckIsIrreducible(t *testing.T) {
	for file, want := range map[string]string{
		"recheck-irreducible": "Preempt: w04 InCohortFairSharing",
		"recheck-elastic":     "Preempt: ns/w03 InCohortFairSharing",
	} {
		data, err := os.ReadFile("testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		record, err := preemption.ParseRecord(data)
		if err != nil {
			t.Fatal(err)
		}
		config := preemption.Config{Sharing: preemption.Fair, Fair: preemption.FairSharing{RecheckShares: true}}
		if got := fairText(t, config, record.State, *record.Request); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// What a victim uses need not count in its queue's share: then the share is the final one
// before and after, and the last look at a pair of victims asks the same as the first.
func TestRecheckByFinalShareAlone(t *testing.T) {
	st := borrowers(fairPolicy, "a", "b")
	st.Queues[0].Quotas = append(st.Queues[0].Quotas, quotaOf("cpu", 100))
	cpus := func(id, queueName string, priority, n int64) workload.Workload {
		return taking(job(id, queueName, priority, 0, started(5)), "cpu", n)
	}
	st.Admitted = []workload.Workload{
		job("a1", "a", 0, 4, started(5)), job("b1", "b", 9, 4, started(5)),
		cpus("small", "b", 0, 1), cpus("large", "b", 1, 2), cpus("rest", "lender", 9, 97),
	}
	r := preemption.Request{Workload: cpus("pending", "a", 0, 2), Now: now}
	c := preemption.Config{Fair: preemption.FairSharing{
		Strategies: []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare}, RecheckShares: true,
	}}
	if got, want := fairText(t, c, st, r), "Preempt: large InCohortFairSharing"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// By the final share alone, too, a victim of the own queue stays whose return would make the
// preemptor's share larger than the final one of another: 7 against 4.
func TestRecheckKeepsWhatFinalShareNeeds(t *testing.T) {
	st := borrowers(fairPolicy, "a", "b")
	st.Queues[0].Quotas, st.Queues[2].FairWeight = gpus(15), quota.WeightOf(2)
	st.Admitted = []workload.Workload{job("a1", "a", 0, 3, started(5)), job("b1", "b", 0, 4, started(5)), job("b2", "b", 1, 8, started(5))}
	c := preemption.Config{Fair: preemption.FairSharing{
		Strategies: []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare}, RecheckShares: true,
	}}
	if got, want := fairText(t, c, st, pending("a", 1, 4)), "Preempt: a1 InClusterQueue, b1 InCohortFairSharing"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
