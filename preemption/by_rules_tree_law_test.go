package preemption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// reclaimsInATree asks for rules that reclaim in a tree of three levels. Victims in a nearer cohort may
// give the preemptor BorrowingCapacityFromPreemptor, so that the queues of a farther one come in after
// others were taken. Some accept others in queues that borrow nothing, and in other trees. Decisions are
// those of the reference.
func reclaimsInATree(t *rapid.T, reached map[string]int) {
	n := func(name string, most int) int64 { return int64(rapid.IntRange(0, most).Draw(t, name)) }
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}, {Name: "near", Parent: "root"}, {Name: "far", Parent: "root"}, {Name: "other"}}}
	for i, cohort := range []string{"near", "near", "near", "far", "far", "root", "other", ""} {
		of := quota.Quota{Flavor: "f", Resource: "gpu", Nominal: n("nominal", 5)}
		if cohort != "" && n("lends", 5) == 0 {
			of.LendingLimit = quota.Some(min(of.Nominal, n("lent", 2)))
		}
		st.Queues = append(st.Queues, queue.Queue{Name: fmt.Sprint("q", i), Cohort: cohort, Rules: "tree", Quotas: []quota.Quota{of}, Inactive: i > 0 && n("inactive", 15) == 0})
	}
	for i := range 2 + n("running", 16) {
		w := onGPUs(fmt.Sprint("w", i), fmt.Sprint("q", rapid.SampledFrom([]int{0, 1, 2, 3, 3, 3, 4, 5, 5, 6, 7}).Draw(t, "queue")), 1+n("amount", 2))
		w.Priority, w.ReservedAt = n("priority", 3), noon.Add(-time.Duration(n("since", 3))*time.Minute)
		w.Evicted = n("evicted", 9) == 0
		if n("labelled", 3) == 0 {
			w.Labels = map[string]string{"team": "a"}
		}
		if n("reserved", 4) == 0 {
			w.ReservedAt = time.Time{}
		}
		st.Admitted = append(st.Admitted, w)
	}
	r := preemption.Request{Workload: onGPUs("asks", "q0", 1+n("asked", 7)), Now: noon}
	r.Workload.Priority = n("priority", 3)
	config := rules.Config{Name: "tree"}
	for i := range 1 + n("rules", 1) {
		rule := rules.Rule{Name: fmt.Sprint("r", i), ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Triggers()[i]}}
		for range 1 + n("selectors", 2) {
			s := rules.CandidateSelector{
				Scope: rapid.SampledFrom([]rules.Scope{
					rules.OtherInCohortTree, rules.OtherInCohortTree, rules.OtherInParentCohort, rules.WithinCohortTree, rules.WithinClusterQueue, rules.AnyClusterQueue,
				}).Draw(t, "scope"),
				Quota: rapid.SampledFrom([]rules.QuotaConstraint{
					rules.BorrowingCapacityFromPreemptor, rules.BorrowingCapacityFromPreemptor, rules.Borrowing, rules.DRSLessThanInitialShare, "",
				}).Draw(t, "quota"),
			}
			if n("up to", 1) == 0 {
				s.Priority = rules.Priority{MaxValue: quota.Some(n("most", 3))}
			}
			if n("of a team", 4) == 0 {
				s.LabelSelector = &workload.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
			}
			if s.Scope == rules.WithinClusterQueue {
				s.Quota = ""
			}
			rule.CandidateSelectors = append(rule.CandidateSelectors, s)
		}
		config.Rules = append(config.Rules, rule)
	}
	st.Rules = []rules.Config{config}
	by := preemption.Config{Compat: preemption.Compat{RulesAlone: true}}
	got := decideWith(t, by, snapshotOf(t, st), r)
	noDiff(t, "- the reference, + the decision", reference.Decide(by, st, r).Decision, timeless(got), cmpopts.EquateEmpty())
	if err := verify.Decision(st, r, by, got); err != nil {
		t.Fatalf("%+v: %v", got, err)
	}
	for _, v := range got.Victims {
		reached["in "+v.Cohort]++
		for _, w := range got.Victims {
			if v.Cohort == "near" && w.Cohort == "root" && w.Order > v.Order {
				reached["far after near"]++
			}
		}
	}
}

func TestReclaimsInATreeByRules(t *testing.T) {
	reached := map[string]int{}
	law := rapid.Custom(func(t *rapid.T) bool { reclaimsInATree(t, reached); return true })
	for seed := range 300 {
		law.Example(seed)
	}
	rapid.Check(t, func(t *rapid.T) { reclaimsInATree(t, reached) })
	for _, what := range []string{"in near", "in root", "far after near"} {
		if reached[what] == 0 {
			t.Errorf("never %s: %v", what, reached)
		}
	}
}
