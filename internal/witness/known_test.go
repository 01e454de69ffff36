package witness_test

import (
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// knownDisagreements are those in which the engine is not what the words say, each with a predicate
// outside of which none is excused.
var knownDisagreements = []struct {
	name  string
	holds func(question) bool
}{
	{"the pod set whose leaving replicas count first", leavesInTwoPodSets},
	{"RetryAt of what leaves under a guard", leavesUnderGuard},
}

// leavesInTwoPodSets: "in a workload the last pod set first". The engine counts the leaving replicas of
// the first pod set first.
func leavesInTwoPodSets(q question) bool {
	for _, w := range q.Record.State.Admitted {
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

// leavesUnderGuard: "RetryAt is exact". What is leaving counts although a guard protects it; the engine
// knows that now, but not where it looks for the first instant at which a policy permits it.
func leavesUnderGuard(q question) bool {
	if len(q.Config.Guards) == 0 {
		return false
	}
	for _, w := range q.Record.State.Admitted {
		if w.Evicted || leaves(w) > 0 {
			return true
		}
	}
	return false
}

func leaves(w workload.Workload) (replicas int64) {
	for _, p := range w.PodSets {
		replicas = quota.Add(replicas, p.Terminating)
	}
	return replicas
}
