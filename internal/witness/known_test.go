package witness_test

import (
	"slices"

	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// answers is a question with the decisions of both.
type answers struct {
	question
	engine, witness preemption.Decision
}

// knownDisagreements are those in which the engine is not what the words say, each with a predicate
// outside of which none is excused.
var knownDisagreements = []struct {
	name  string
	holds func(answers) bool
}{
	{"sibling cohorts of equal share", cohortsTie},
	{"a flavor without quota for a request of zero", zeroWithoutQuota},
}

// zeroWithoutQuota: "no flavor without an entry is assigned". The engine assigns such a flavor to a request
// of zero.
func zeroWithoutQuota(a answers) bool {
	for _, q := range a.Record.State.Queues {
		if q.Name != a.Record.Request.Workload.Queue {
			continue
		}
		for _, p := range a.Record.Request.Workload.PodSets {
			for _, r := range p.Requests {
				if r.Flavor == "" && p.Total(r.Amount) == 0 && lacksQuota(&q, r.Resource) {
					return true
				}
			}
		}
	}
	return false
}

// lacksQuota reports whether some flavor of the resource's group has no quota for it.
func lacksQuota(q *queue.Queue, resource string) bool {
	for _, g := range q.ResourceGroups() {
		for _, flavor := range g.Flavors {
			entry := func(e quota.Quota) bool { return e.Flavor == flavor && e.Resource == resource }
			if slices.Contains(g.Resources, resource) && !slices.ContainsFunc(q.Quotas, entry) {
				return true
			}
		}
	}
	return false
}

// cohortsTie: "Of two cohorts the one whose first workload is being evicted, then by steps 4 and 6." Whose
// workload is the first while some are removed and the request counts, the words do not say; any choice is
// one of Kueue's.
func cohortsTie(a answers) bool {
	return a.Config.Sharing != preemption.Classical && witness.CohortsTie(a.Config, a.Record.State, *a.Record.Request)
}
