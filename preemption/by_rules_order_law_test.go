package preemption_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// crowdByRules draws a crowd with workloads of the preemptor's own, and rules with an order: whom they
// take first changes what others may be taken. Some workloads are alike in all but their IDs, some have
// no reservation time.
func crowdByRules(t *rapid.T) (preemption.State, preemption.Request) {
	n := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
	st, r := crowdOf(t, 2, 3, 3, 4, 5)
	lender := &st.Queues[len(st.Queues)-1]
	for _, w := range st.Admitted { // more of the same queues
		for i := range n("more", 2) {
			if w.ID, w.Priority = fmt.Sprint(w.ID, i), int64(n("priority", 2)); w.PodSets[0].Count == 1 {
				st.Queues[0].Quotas[0].Nominal += w.PodSets[0].Requests[0].Amount
				st.Admitted = append(st.Admitted, w.Clone())
			}
		}
	}
	for i := range st.Queues {
		q := &st.Queues[i]
		if q.Inactive = n("inactive", 15) == 15; n("red queue", 3) > 0 {
			q.Labels = map[string]string{"color": "red"}
		}
		switch n("weight", 9) {
		case 0:
			q.FairWeight = quota.WeightOf(0)
		case 1:
			q.FairWeight = quota.WeightOf(2)
		}
	}
	for i := range st.Admitted {
		w := &st.Admitted[i]
		if n("red", 3) == 0 {
			w.Labels = map[string]string{"color": "red"}
		}
		w.LocalQueue = []string{"", "a", "b"}[n("local queue", 2)]
		switch n("reserved", 5) {
		case 0:
			w.ReservedAt = time.Time{}
		case 1:
			w.Created = w.Created.Add(-time.Duration(n("created", 2)) * time.Minute)
		}
	}
	r.LocalQueueUsage = []queue.LocalQueueUsage{{LocalQueue: "b", Usage: 1}}
	own := int64(n("own", 4))
	for i := range own {
		st.Admitted = append(st.Admitted, job(fmt.Sprintf("own%d", i), lender.Name, int64(n("priority", 2)), 1, started(10*n("age", 2))))
	}
	lender.Quotas[0].Nominal += own * int64(n("owns", 1))
	lender.Rules, lender.Preemption = "rules", queue.PreemptionPolicy{}
	config := rules.Config{Name: "rules"}
	for i := range 1 + n("rules", 1) {
		rule := rules.Rule{Name: fmt.Sprint("r", i), ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Triggers()[i]}}
		for j := range 1 + n("selectors", 2) {
			s := rules.CandidateSelector{Scope: rules.WithinClusterQueue}
			if j > 0 || n("others", 3) == 0 {
				s.Scope = rapid.SampledFrom([]rules.Scope{
					rules.OtherInCohortTree, rules.OtherInCohortTree, rules.WithinCohortTree, rules.AnyClusterQueue, rules.OtherInParentCohort,
				}).Draw(t, "scope")
				s.Quota = rapid.SampledFrom([]rules.QuotaConstraint{
					rules.BorrowingCapacityFromPreemptor, rules.DRSLessThanOrEqualToFinalShare, rules.DRSLessThanOrEqualToFinalShare, rules.DRSLessThanInitialShare,
					rules.DRSLessThanInitialShare, rules.DRSAllStrategies, rules.Borrowing, "",
				}).Draw(t, "quota")
			}
			switch red := (&workload.LabelSelector{MatchLabels: map[string]string{"color": "red"}}); n("labels", 11) {
			case 0:
				s.ClusterQueueSelector = red
			case 1:
				if s.LabelSelector = red; n("free", 1) == 0 {
					s.Quota = ""
				}
			}
			if n("priority", 4) == 0 {
				s.Priority = rules.Priority{Mode: rules.Boosted, Comparison: rules.LessThan}
			}
			rule.CandidateSelectors = append(rule.CandidateSelectors, s)
		}
		config.Rules = append(config.Rules, rule)
	}
	for _, key := range rapid.Permutation(rules.OrderingKeys()).Draw(t, "keys")[:n("ordered", 5)] {
		config.Ordering = append(config.Ordering, rules.Ordering{Key: key, Direction: rapid.SampledFrom([]rules.Direction{rules.Ascending, rules.Descending}).Draw(t, "direction")})
	}
	if n("as Kueue", 1) == 0 {
		share := rules.Ordering{Key: rules.ByQueueShare, Direction: rules.Descending}
		usual := []rules.Ordering{{Key: rules.ByPriority}, {Key: rules.ByAdmission, Direction: rules.Descending}}
		config.Ordering = rapid.SampledFrom([][]rules.Ordering{
			{share, usual[0], usual[1]}, {share, {Key: rules.ByOtherQueue, Direction: rules.Descending}, usual[0], usual[1]},
			{{Key: rules.ByOtherCohort}, {Key: rules.ByQueueShare}, usual[0], {Key: rules.ByCost}}, {usual[0], share, usual[1]}, {usual[0], usual[1], share}, {usual[0], usual[1], {Key: rules.ByLocalQueue}},
		}).Draw(t, "order")
	}
	st.Rules = []rules.Config{config}
	return st, r
}

// The witness says the same where rules have an order of their own.
func ordersByRules(t *rapid.T, reached map[string]int) {
	st, r := crowdByRules(t)
	config := preemption.Config{Compat: preemption.Compat{RulesAlone: true}}
	got := decideWith(t, config, snapshotOf(t, st), r)
	agrees(t, config, st, r, got)
	if len(st.Rules[0].Ordering) == 0 || len(got.Victims) == 0 {
		return
	}
	reached["victims"]++
	of := map[string]bool{}
	for _, v := range got.Victims {
		of[v.Queue] = true
	}
	if len(of) > 1 {
		reached["several queues"]++
		if of["lender"] {
			reached["also the own"]++
		}
	}
}

// Keys of shares are compared as they are before a victim is taken: "last" comes after "a own" then, though
// without "a own" its key would come first.
func TestKeysBeforeTheVictim(t *testing.T) {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "root"}},
		Queues: []queue.Queue{
			{Name: "idle", Cohort: "root", Quotas: gpus(4)}, {Name: "a", Cohort: "root", Quotas: gpus(1)}, {Name: "b", Cohort: "root", Quotas: gpus(0)},
			{Name: "asks", Cohort: "root", Quotas: gpus(2), Rules: "rules"},
		},
		Rules: []rules.Config{{
			Name: "rules",
			Rules: []rules.Rule{{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{
				{Scope: rules.WithinClusterQueue}, {Scope: rules.OtherInCohortTree, Quota: rules.DRSLessThanInitialShare},
			}}},
			Ordering: []rules.Ordering{{Key: rules.ByPriority}, {Key: rules.ByFinalShare, Direction: rules.Descending}},
		}},
		Admitted: []workload.Workload{
			job("idle", "idle", 0, 1, now), job("a1", "a", 0, 1, now), job("a2", "a", 0, 1, now), job("a3", "a", 0, 1, now),
			job("b1", "b", 0, 1, now), job("b2", "b", 0, 1, now), job("last", "b", 1, 1, now), job("a own", "asks", 1, 1, now),
		},
	}
	config, r := preemption.Config{Compat: preemption.Compat{RulesAlone: true}}, pending("asks", 1, 3)
	d := decideWith(t, config, snapshotOf(t, st), r)
	if got, want := fmt.Sprint(ids(d.Victims)), "[a own a1 b1 last]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	agrees(t, config, st, r, d)
}

func TestOrdersByRules(t *testing.T) {
	reached := map[string]int{}
	rapid.Check(t, func(t *rapid.T) { ordersByRules(t, reached) })
	if len(reached) < 3 && !testing.Short() {
		t.Errorf("not all was drawn: %v", reached)
	}
	t.Log(reached)
}

// reclaimsInATree asks for rules that reclaim in a tree of three levels. Victims in a nearer cohort may
// give the preemptor BorrowingCapacityFromPreemptor, so that the queues of a farther one come in after
// others were taken. Some accept others in queues that borrow nothing, and in other trees. Decisions are
// those of the witness.
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
		w.Priority, w.ReservedAt = n("priority", 3), now.Add(-time.Duration(n("since", 3))*time.Minute)
		w.Evicted = n("evicted", 9) == 0
		if n("labelled", 3) == 0 {
			w.Labels = map[string]string{"team": "a"}
		}
		if n("reserved", 4) == 0 {
			w.ReservedAt = time.Time{}
		}
		st.Admitted = append(st.Admitted, w)
	}
	r := preemption.Request{Workload: onGPUs("asks", "q0", 1+n("asked", 7)), Now: now}
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
	agrees(t, by, st, r, got)
	verified(t, st, r, by, got)
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
