package recorded

import (
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

var someTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func takes(id, queue string, amount int64) workload.Workload {
	return workload.Workload{ID: id, Queue: queue, PodSets: []workload.PodSet{
		{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: amount}}},
	}}
}

func nominal(amount int64) []quota.Quota {
	return []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: amount}}
}

var column = quota.FlavorResource{Flavor: "f", Resource: "gpu"}

// "A departure excuses the one answer that it makes right", and no other.
func TestAnExcuseIsForOneAnswer(t *testing.T) {
	for _, c := range []struct {
		e                excuse
		want, got        []string
		departs, differs bool
	}{
		{excuse{}, []string{"a"}, []string{"a"}, false, false},
		{excuse{}, []string{"a"}, []string{"b"}, false, true},
		{excuse{"d", []string{"b"}}, []string{"a"}, []string{"a"}, false, false},
		{excuse{"d", []string{"b"}}, []string{"a"}, []string{"b"}, true, false},
		{excuse{"d", []string{"b"}}, []string{"a"}, []string{"c"}, false, true},
		{excuse{"d", nil}, []string{"a"}, []string{"b"}, false, true},
	} {
		var r Report
		r.compare(c.e, "it", c.want, c.got)
		if got := len(r.Departures) > 0; got != c.departs || r.Passed() == c.differs {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}

// A retry departs only if it is at the first end of a protection, at which the request has to wait: two workloads are protected
// for ten minutes, and both are needed.
func TestTheFirstEndAloneIsExcused(t *testing.T) {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}},
		Queues: []queue.Queue{
			{Name: "owner", Cohort: "all", Quotas: nominal(2), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
			{Name: "borrower", Cohort: "all", Quotas: nominal(0)},
		},
	}
	for i, id := range []string{"first", "second"} {
		w := takes(id, "borrower", 1)
		w.AdmittedAt = someTime.Add(time.Duration(i) * time.Minute)
		w.ReservedAt = w.AdmittedAt
		st.Admitted = append(st.Admitted, w)
	}
	q := Question{
		Config: &preemption.Config{Protection: minruntime.Protection{Reclaim: 10 * time.Minute}}, State: &st,
		Request: preemption.Request{Workload: takes("in", "owner", 2), Now: someTime.Add(2 * time.Minute)},
	}
	for at, want := range map[time.Duration]struct{ passes, departs bool }{
		11 * time.Minute: {true, false}, 10 * time.Minute: {true, true},
		10*time.Minute - 1: {false, false}, 10*time.Minute + 1: {false, false}, 9 * time.Minute: {false, false},
	} {
		retry := someTime.Add(at)
		q.Want.RetryAt = &retry
		r, err := (&Case{ID: "c", Quota: []Question{q}}).Check()
		if err != nil || r.Passed() != want.passes || len(r.Departures) > 0 != want.departs {
			t.Errorf("%v: %+v, %v, want %+v", at, r, err, want)
		}
	}
}

// "Node height = max depth to a leaf (CQ child counts 1, childless cohort 0)": a cohort that has nothing in it counts as a queue
// does. Queue q (nominal 9) is in cohort low (nominal 5, with an empty cohort in it), that in cohort top (nominal 20, with a
// chain of two empty cohorts).
func TestAnEmptyCohortHasHeightZero(t *testing.T) {
	for _, c := range []struct {
		usage, asked int64
		height       int64
	}{
		{9, 0, 0},  // at its nominal quota, asked nothing
		{12, 0, 1}, // borrows, asked nothing: what it borrows is the cohort's
		{9, 5, 1},  // 14 in low
		{9, 6, 2},  // 15, more than low has
		{20, 0, 2},
	} {
		st := preemption.State{
			Cohorts: []queue.Cohort{
				{Name: "top", Quotas: nominal(20)}, {Name: "low", Parent: "top", Quotas: nominal(5)}, {Name: "nothing", Parent: "low"},
				{Name: "upper", Parent: "top"}, {Name: "lower", Parent: "upper"},
			},
			Queues:   []queue.Queue{{Name: "q", Cohort: "low", Quotas: nominal(9)}},
			Admitted: []workload.Workload{takes("r", "q", c.usage)},
		}
		asked := quota.Amount{Flavor: "f", Resource: "gpu", Amount: c.asked}
		q := Question{State: &st, Request: preemption.Request{Workload: workload.Workload{ID: "in", Queue: "q"}, Now: someTime}}
		q.Want.Queues = []Row{{Name: "q", FlavorResource: column, Usage: c.usage, Available: 34 - c.usage, Potential: 34, SubtreeQuota: 9}}
		for _, want := range []preemption.Possibility{preemption.PossibilityNoCandidates, preemption.PossibilityReclaim} {
			q.Want.Forecasts = []Forecast{{asked, want, quota.Some(c.height)}} // Kueue's word for a request that fits may be any
			r, err := (&Case{ID: "c", Quota: []Question{q}}).Check()
			if departs := want == preemption.PossibilityReclaim; err != nil || !r.Passed() || departs != (len(r.Departures) == 1) {
				t.Errorf("%d asked at %d: %+v, %v", c.asked, c.usage, r, err)
			}
		}
	}
}

// Fair shares depart only if the record is marked: by a unit in each share, or where weight and past usage cancel out. Here queue a
// has half of 8 GPUs; alone, with as much past usage as twice its weight, it has nothing.
func TestMarkedFairSharesAreExcused(t *testing.T) {
	alone := fairshare.Tree{Resources: []fairshare.Resource{{Name: "gpu", Total: 8}}}
	alone.Queues = []fairshare.Queue{{Name: "a", Claims: []fairshare.Claim{{Resource: "gpu", OverQuotaWeight: 3, Request: 8, PastUsage: 2}}}}
	both := fairshare.Tree{Resources: alone.Resources}
	for _, name := range []string{"a", "b"} {
		both.Queues = append(both.Queues, fairshare.Queue{Name: name, Claims: []fairshare.Claim{{Resource: "gpu", OverQuotaWeight: 3, Request: 8}}})
	}
	zero, fractions := []string{exactZero}, []string{exactFractions}
	for _, c := range []struct {
		tree    fairshare.Tree
		marked  bool
		a, b    int64
		departs []string
		passes  bool
	}{
		{both, false, 4, 4, nil, true}, {both, true, 4, 4, nil, true}, {both, false, 5, 3, nil, false}, {both, true, 5, 3, fractions, true},
		{both, true, 6, 2, nil, false}, {both, true, 4, 2, nil, false}, {alone, false, 8, 0, nil, false}, {alone, true, 8, 0, zero, true},
		{alone, true, 1, 0, fractions, true},
	} {
		answer := []FairShare{{"a", "gpu", c.a}, {"b", "gpu", c.b}}[:len(c.tree.Queues)]
		q := FairShares{Tree: c.tree, FloatSensitive: c.marked, Answers: [][]FairShare{answer}}
		r, err := (&Case{ID: "c", FairShares: []FairShares{q}}).Check()
		if err != nil || r.Passed() != c.passes || !slices.Equal(r.Departures, c.departs) {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
	}
}
