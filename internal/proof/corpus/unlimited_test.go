package corpus

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// Kueue's answers, worked out by its formulas: in the cohort the quota of the lender is its
// subtree quota less what it keeps, unlimited less unlimited, which is zero. So the borrower has
// nothing available. Here it may borrow the limit.
func TestUnlimitedQuotaWithALendingLimit(t *testing.T) {
	fr := quota.FlavorResource{Flavor: "f", Resource: "gpu"}
	lends := func(nominal int64) *Case {
		c := &Case{
			Name: "unlimited lends", Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Cohorts: []Cohort{{Name: "c"}},
			ClusterQueues: []ClusterQueue{
				{Name: "lender", Cohort: "c", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: nominal, LendingLimit: quota.AtMost(4)}}},
				{Name: "borrower", Cohort: "c", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu"}}},
			},
			Incoming: Workload{Name: "in", ClusterQueue: "borrower"},
		}
		c.Incoming.Requests = append(c.Incoming.Requests, struct {
			quota.Amount
			Mode string `json:"mode"`
		}{quota.Amount{Flavor: "f", Resource: "gpu", Amount: 3}, "Preempt"})
		c.Want.Quota.ClusterQueues = []QuotaRow{{Name: "borrower", FlavorResource: fr}}
		return c
	}
	for nominal, departs := range map[int64]bool{quota.Unlimited: true, 10: false} {
		r, err := lends(nominal).Check(new(preemption.Preemptor))
		if err != nil {
			t.Fatal(err)
		}
		if r.Passed() != departs || departs != (len(r.Departures) == 1 && r.Departures[0] == UnlimitedLends) {
			t.Errorf("nominal %d: %+v", nominal, r)
		}
	}
	c := lends(quota.Unlimited)
	if c.unlimitedLends(quota.FlavorResource{Flavor: "g", Resource: "gpu"}) {
		t.Error("another column")
	}
	c.ClusterQueues[0].Quotas[0].LendingLimit = quota.AtMost(quota.Unlimited)
	c.ClusterQueues[0].Cohort = ""
	if c.unlimitedLends(fr) {
		t.Error("without a parent nothing is lent")
	}
	c.ClusterQueues[0].Cohort, c.ClusterQueues[0].Quotas[0].LendingLimit = "c", quota.AtMost(4)
	c.ClusterQueues[0].Quotas[0].LendingLimit = lends(10).ClusterQueues[1].Quotas[0].LendingLimit
	if c.unlimitedLends(fr) {
		t.Error("no limit")
	}
	c.Cohorts[0].Parent, c.Cohorts[0].Quotas = "root", []quota.Quota{{Flavor: "f", Resource: "gpu", LendingLimit: quota.AtMost(1)}}
	if !c.unlimitedLends(fr) {
		t.Error("the limit of a cohort above")
	}
}
