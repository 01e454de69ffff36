package nodes_test

import "github.com/cedesched/cede/preemption/placement"

// answers is a question with the decisions of both.
type answers struct {
	question
	engine, witness placement.Decision
}

// knownDisagreements are those in which the engine is not what the words say, each with a predicate
// outside of which none is excused.
var knownDisagreements = []struct {
	name  string
	holds func(answers) bool
}{}
