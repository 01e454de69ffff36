package witness_test

import (
	"slices"

	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
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
	{"the pod set whose leaving replicas count first", leavesInTwoPodSets},
	{"RetryAt of what leaves under a guard", lateUnderGuard},
	{"RetryAt in the order of local queues", lateInLocalQueues},
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

// leavesInTwoPodSets: "in a workload the last pod set first". The engine counts the leaving replicas of
// the first pod set first.
func leavesInTwoPodSets(a answers) bool {
	for _, w := range a.Record.State.Admitted {
		sets := 0
		for _, p := range w.PodSets {
			if p.Terminating > 0 {
				sets++
			}
		}
		if sets > 1 {
			return true
		}
	}
	return false
}

// lateUnderGuard: "RetryAt is exact". What is leaving counts although a guard protects it; the engine
// knows that when it decides, but not where it looks for the first instant at which a policy permits it.
func lateUnderGuard(a answers) bool {
	for _, w := range a.Record.State.Admitted {
		if len(a.Config.Guards) > 0 && (w.Evicted || leaves(w) > 0) {
			return late(a)
		}
	}
	return false
}

// lateInLocalQueues: "RetryAt is never too late", and "Impossible: at no time". With
// Request.LocalQueueUsage the engine says Impossible, or a later time, although at the time that the
// witness names it finds victims itself.
func lateInLocalQueues(a answers) bool { return len(a.Record.Request.LocalQueueUsage) > 0 && late(a) }

// late reports whether the engine, asked at the instant that the witness names, contradicts what it
// said before.
func late(a answers) bool {
	at := a.witness.RetryAt
	if at.IsZero() || !a.engine.RetryAt.IsZero() && !at.Before(a.engine.RetryAt) {
		return false
	}
	snapshot, err := preemption.NewSnapshot(a.Record.State)
	if err != nil {
		return false
	}
	preemptor, err := preemption.New(a.Config)
	if err != nil {
		return false
	}
	r := *a.Record.Request
	r.Now = at
	d, err := preemptor.Decide(snapshot, r)
	return err == nil && d.Possible()
}

func leaves(w workload.Workload) (replicas int64) {
	for _, p := range w.PodSets {
		replicas = quota.Add(replicas, p.Terminating)
	}
	return replicas
}
