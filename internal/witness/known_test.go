package witness_test

import (
	"slices"

	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
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
	{"sibling cohorts of equal share", cohortsTie},
}

// cohortsTie: "Of two cohorts the one whose first workload is being evicted, then by steps 4 and 6." Whose
// workload is the first while some are removed and the request counts, the words do not say; any choice is
// one of Kueue's.
func cohortsTie(a answers) bool {
	return a.Config.Sharing != preemption.Classical && witness.CohortsTie(a.Config, a.Record.State, *a.Record.Request)
}

// ranksTie: with Stable sharing workloads come "by effective priority, at equal priority the earlier queue-order
// timestamp first, then by UID, then by ID". The engine has who waits after those who run, whatever the UID.
func ranksTie(q question) bool {
	w := q.Record.Request.Workload
	return q.Config.Sharing == preemption.Stable && slices.ContainsFunc(q.Record.State.Admitted, func(o workload.Workload) bool {
		return o.Queue == w.Queue && o.EffectivePriority() == w.EffectivePriority() && o.Queued.Equal(w.Queued)
	})
}
