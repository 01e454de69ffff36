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

// Who stands in the way is found however many stand before it who do not.
func TestBlockersBehindManyOthers(t *testing.T) {
	// many are so many workloads of a queue of which one only uses what is short.
	many := func(queueName string, priority int64, last workload.Workload) []workload.Workload {
		list := []workload.Workload{last}
		for i := range 200 {
			w := job(fmt.Sprintf("%s%03d", queueName, i), queueName, priority, 1, started(120))
			w.PodSets[0].Requests[0].Flavor = "a100"
			list = append(list, w)
		}
		return list
	}
	// short are as many, all of which use what is short.
	short := func(queueName string, last workload.Workload) []workload.Workload {
		list := many(queueName, 0, last)
		for i := range list[1:] {
			list[i+1].PodSets[0].Requests[0] = quota.Amount{Flavor: "h100", Resource: "gpu", Amount: 1}
		}
		return list
	}
	evicted := func(w workload.Workload) workload.Workload { w.Evicted = true; return w }
	never := func(w workload.Workload) workload.Workload { w.NeverYields = true; return w }
	unreserved := func(w workload.Workload) workload.Workload { w.ReservedAt = time.Time{}; return w }
	runtime := minruntime.Settings{Preempt: quota.Some(time.Hour)}
	var asked []string
	guarded := preemption.Config{Guards: []preemption.Guard{recorder{&asked, 5}}}
	for _, c := range []struct {
		name     string
		config   preemption.Config
		runtime  minruntime.Settings
		admitted []workload.Workload
		want     string
		crowded  bool // all of them use what is short
	}{
		{"refused", preemption.Config{}, minruntime.Settings{}, many("a", 10, job("last", "a", 11, 4, started(1))), "Impossible: WithinClusterQueue a last", false},
		{"refused, evicted", preemption.Config{}, minruntime.Settings{}, many("a", 10, evicted(job("last", "a", 11, 4, started(1)))), "Impossible: WithinClusterQueue a last", false},
		{"protected", preemption.Config{}, runtime, many("a", 0, job("last", "a", 1, 4, started(1))), "Wait: GuaranteedRuntime a last", false},
		{"protected, of those who use the same", preemption.Config{}, runtime, short("a", job("last", "a", 1, 4, started(1))), "Wait: GuaranteedRuntime a last", true},
		{"guarded", guarded, minruntime.Settings{}, many("a", 0, job("last", "a", 5, 4, started(120))), "Impossible: Guarded a last", false},
		{"guarded, without reservation", guarded, minruntime.Settings{}, many("a", 0, unreserved(job("last", "a", 5, 4, started(120)))), "Impossible: Guarded a last", false},
		{"guarded, evicted", guarded, minruntime.Settings{}, many("a", 0, evicted(job("last", "a", 5, 4, started(120)))), "Preempt: last InClusterQueue", false}, // it leaves anyway
		{"never yields", preemption.Config{}, minruntime.Settings{}, many("a", 0, never(job("last", "a", 1, 4, started(120)))), "Impossible: NeverYields a last", false},
		{"never yields, of those who use the same", preemption.Config{}, runtime, append(short("a", never(job("last", "a", 1, 4, started(1)))), job("zz", "a", 9, 0, started(1))), "Impossible: NeverYields a last", true},
		{"never yields, without reservation", preemption.Config{}, runtime, many("a", 0, never(unreserved(job("last", "a", 1, 4, started(1))))), "Impossible: NeverYields a last", false},
		{"never yields, guarded and protected", guarded, runtime, many("a", 0, never(job("last", "a", 5, 4, started(1)))), "Impossible: NeverYields a last", false},
		{"never yields, and refused", preemption.Config{}, minruntime.Settings{}, many("a", 10, never(job("last", "a", 11, 4, started(1)))), "Impossible: WithinClusterQueue a last", false},
		{"guarded and protected", guarded, runtime, many("a", 0, job("last", "a", 5, 4, started(1))), "Impossible: GuaranteedRuntime a last", false},
	} {
		nominal, amount := int64(4), int64(4)
		if c.crowded {
			nominal, amount = 204, 201
		}
		quotas := append(gpus(nominal), quota.Quota{Flavor: "a100", Resource: "gpu", Nominal: 1000})
		q := queue.Queue{Name: "a", Quotas: quotas, MinRuntime: c.runtime, Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}
		s := snapshotOf(t, preemption.State{Queues: []queue.Queue{q}, Admitted: c.admitted})
		wantText(t, text(decideWith(t, c.config, s, pending("a", 10, amount))), c.want, "%s", c.name)
	}
}

// In fair sharing a queue whose turn it is not is named with its first workload that uses
// what is short, behind however many that do not.
func TestFairShareBehindManyOthers(t *testing.T) {
	st := borrowers(fairPolicy, "a", "b")
	st.Queues[0].Quotas = append(st.Queues[0].Quotas, quota.Quota{Flavor: "a100", Resource: "gpu", Nominal: 1000})
	for i := range 200 {
		w := job(fmt.Sprintf("b%03d", i), "b", 0, 1, started(120))
		w.PodSets[0].Requests[0].Flavor = "a100"
		st.Admitted = append(st.Admitted, w)
	}
	last := job("last", "b", 1, 2, started(120))
	full := job("full", "lender", 10, 8, started(120))
	st.Admitted = append(st.Admitted, last, full)
	r := pending("a", 10, 2)
	st.Queues[1].FairWeight = quota.WeightOf(0)
	wantText(t, fairText(t, preemption.Config{}, st, r), "Impossible: FairShare b last, WithinNominal lender")
}

// Above the highest of the nodes that bound the request nobody's leaving would help: of
// two shortages, be the higher one the first or the last.
func TestBlockersUpToTheHigherOfTwoBounds(t *testing.T) {
	for _, limited := range []string{"disk", "net"} {
		limit, free := quotaOf(limited, 2), quotaOf("gpu", 2)
		limit.BorrowingLimit = quota.AtMost(0)
		st := preemption.State{
			Cohorts: []queue.Cohort{{Name: "c"}},
			Queues: []queue.Queue{
				{Name: "a", Cohort: "c", Quotas: []quota.Quota{free, limit}, Preemption: reclaims},
				{Name: "b", Cohort: "c", Quotas: []quota.Quota{quotaOf(limited, 5)}},
			},
			Admitted: []workload.Workload{taking(job("own", "a", 10, 0, started(5)), limited, 2), job("b1", "b", 10, 2, started(5))},
		}
		r := pending("a", 10, 2)
		r.Workload = taking(r.Workload, limited, 1)
		wantText(t, text(decide(t, snapshotOf(t, st), r)), "Impossible: WithinClusterQueue a own, ReclaimWithinCohort b b1", "%s", limited)
	}
}

// Above a cohort whose quota holds the request, policies on borrowing stand in nobody's way
// (KEP-1714); above one whose quota does not, they do.
func TestBlockersAboveTheCohortOfThePreemptor(t *testing.T) {
	for nominal, want := range map[int64]string{
		4: "Impossible: ReclaimWithinCohort vip vip1",
		3: "Impossible: BorrowWithinCohort low low1, ReclaimWithinCohort vip vip1",
	} {
		s := snapshotOf(t, preemption.State{
			Cohorts: []queue.Cohort{{Name: "root", Quotas: gpus(4 - nominal)}, {Name: "in", Parent: "root", Quotas: gpus(nominal)}},
			Queues: []queue.Queue{
				{Name: "a", Cohort: "in", Quotas: gpus(0), Preemption: reclaims}, {Name: "low", Cohort: "root"}, {Name: "vip", Cohort: "root"},
			},
			Admitted: []workload.Workload{job("low1", "low", 0, 2, started(5)), job("vip1", "vip", 20, 2, started(5))},
		})
		wantText(t, text(decide(t, s, pending("a", 10, 4))), want, "%d in the cohort", nominal)
	}
}

// "Protected until its start plus the minimum", to the nanosecond, its end included: at the next one it may yield.
func TestMinimumToTheNanosecond(t *testing.T) {
	for _, minimum := range []time.Duration{1, 2, time.Hour} {
		q := queue.Queue{
			Name: "a", Quotas: gpus(4), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
			MinRuntime: minruntime.Settings{Preempt: quota.Some(minimum)},
		}
		s := snapshotOf(t, preemption.State{Queues: []queue.Queue{q}, Admitted: []workload.Workload{job("low", "a", 0, 4, now)}})
		for after, want := range map[time.Duration]string{0: "Wait: GuaranteedRuntime a low", minimum: "Wait: GuaranteedRuntime a low", minimum + 1: "Preempt: low InClusterQueue"} {
			r := pending("a", 10, 4)
			r.Now = now.Add(after)
			d := decide(t, s, r)
			if text(d) != want || d.Outcome == preemption.Wait && !d.RetryAt.Equal(now.Add(minimum+1)) {
				t.Errorf("%v after the start, of at least %v: %s until %v, want %s", after, minimum, text(d), d.RetryAt, want)
			}
		}
	}
}

// "Above the node whose limit is exceeded no victim would help": blockers are of the cohort whose
// borrowing limit is reached, and of no cohort above it.
func TestBlockersUpToTheLimit(t *testing.T) {
	policy := queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority}
	limited := gpus(0)
	limited[0].BorrowingLimit = quota.Some[int64](0)
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "top", Quotas: gpus(2)}, {Name: "low", Parent: "top", Quotas: limited}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "low", Quotas: gpus(2), Preemption: policy}, {Name: "b", Cohort: "low", Quotas: gpus(2)},
			{Name: "c", Cohort: "top"},
		},
		Admitted: []workload.Workload{job("b1", "b", 9, 4, started(5)), job("c1", "c", 9, 2, started(5))},
	}
	for _, limit := range []bool{true, false} {
		want := "Impossible: ReclaimWithinCohort b b1"
		if !limit {
			want += ", ReclaimWithinCohort c c1"
			st.Cohorts[1].Quotas = nil
		}
		wantText(t, text(decide(t, snapshotOf(t, st), pending("a", 5, 2))), want, "with a limit %v", limit)
	}
}

// Blockers are looked for up to the highest node that bounds any of what is short.
func TestBlockersUpToTheHighestBound(t *testing.T) {
	limited := quotaOf("ib", 2)
	limited.BorrowingLimit = quota.AtMost(0)
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: []quota.Quota{limited, quotaOf("gpu", 2)}},
			{Name: "b", Cohort: "c", Quotas: gpus(2)},
		},
		Admitted: []workload.Workload{
			taking(workload.Workload{ID: "ib", Queue: "a"}, "ib", 2), job("b1", "b", 0, 4, started(1)),
		},
	}
	r := pending("a", 10, 1)
	r.Workload.PodSets = append(taking(workload.Workload{}, "ib", 1).PodSets, r.Workload.PodSets...)
	d := decide(t, snapshotOf(t, st), r)
	wantText(t, text(d), "Impossible: WithinClusterQueue a ib, ReclaimWithinCohort b b1")
	if len(d.Shortage) != 2 || d.Shortage[0].Cohort != "c" || d.Shortage[1].Cohort != "" {
		t.Errorf("%+v", d.Shortage)
	}
}
