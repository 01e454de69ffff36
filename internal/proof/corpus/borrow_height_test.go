package corpus

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// "Node height = max depth to a leaf (CQ child counts 1, childless cohort 0)": a cohort that has
// nothing in it counts as a queue does. Queue q (nominal 9, usage 9 or 12) is in cohort low (nominal 5,
// with an empty cohort in it), that in cohort top (nominal 20, with a chain of two empty cohorts).
func TestAnEmptyCohortHasHeightZero(t *testing.T) {
	column := quota.FlavorResource{Flavor: "spot", Resource: "gpu"}
	entry := func(nominal int64) []quota.Quota {
		return []quota.Quota{{Flavor: column.Flavor, Resource: column.Resource, Nominal: nominal}}
	}
	for _, c := range []struct {
		usage, asked int64
		height       int
	}{
		{9, 0, 0},  // at its nominal quota, asked nothing
		{12, 0, 1}, // borrows, asked nothing: what it borrows is the cohort's
		{9, 5, 1},  // 14 in low
		{9, 6, 2},  // 15, more than low has
		{20, 0, 2},
	} {
		of := Case{
			Name: "c", Mode: "classical", Now: kaiNow, Incoming: Workload{Name: "in", ClusterQueue: "q"},
			Cohorts: []Cohort{
				{Name: "top", Quotas: entry(20)}, {Name: "low", Parent: "top", Quotas: entry(5)}, {Name: "nothing", Parent: "low"},
				{Name: "upper", Parent: "top"}, {Name: "lower", Parent: "upper"},
			},
			ClusterQueues: []ClusterQueue{{Name: "q", Cohort: "low", Quotas: entry(9)}},
			Admitted:      []Workload{{Name: "r", ClusterQueue: "q", Usage: []quota.Amount{{Flavor: "spot", Resource: "gpu", Amount: c.usage}}}},
		}
		of.Want.Quota = QuotaRows{
			ClusterQueues: []QuotaRow{{Name: "q", FlavorResource: column, Usage: c.usage, Available: 34 - c.usage, SubtreeQuota: 9}},
			Cohorts: []QuotaRow{
				{Name: "low", FlavorResource: column, Usage: c.usage, SubtreeQuota: 14}, {Name: "top", FlavorResource: column, Usage: c.usage, SubtreeQuota: 34},
			},
		}
		asked := quota.Amount{Flavor: column.Flavor, Resource: column.Resource, Amount: c.asked}
		if got := of.heightNow(asked); got != c.height || !of.fitsAlready(asked) {
			t.Errorf("%d asked at %d: height %d, want %d; fits %t", c.asked, c.usage, got, c.height, of.fitsAlready(asked))
		}
		s, err := preemption.NewSnapshot(of.State())
		if err != nil {
			t.Fatal(err)
		}
		var p *preemption.Preemptor
		f, err := p.Forecast(s, of.Request(), asked)
		if err != nil || f.Possibility != preemption.PossibilityNoCandidates || f.BorrowHeight != c.height {
			t.Errorf("%d asked at %d: %+v, want no candidates at height %d; %v", c.asked, c.usage, f, c.height, err)
		}
	}
}
