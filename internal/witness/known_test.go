package witness_test

import (
	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
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
