package nodes_test

import (
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

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
}{
	{"what leaves is overlooked", overlooksLeaving},
}

// overlooksLeaving: SkipFit, a node where no unit has to yield "is then no candidate", and "if the request fits once terminating
// pods are gone, it waits for them". The engine does not wait for them if another node, with room now, comes first.
func overlooksLeaving(a answers) bool {
	r := a.Request
	r.SkipFit = false
	return a.Request.SkipFit && a.witness.Outcome == preemption.Wait && a.witness.Reason == 0 &&
		nodes.Decide(a.Config, a.State, r).Outcome == preemption.Fits
}

// failsOfItself: Decide "fails only on a malformed request". For the pods of a Basic group the engine makes edits between them, and
// fails if one of these would use more than 2^62 of a node.
func failsOfItself(q question, err error) bool {
	basic := func(g workload.PodGroup) bool { return g.ID == q.Request.Group && g.Basic }
	return slices.ContainsFunc(q.State.Groups, basic) && strings.Contains(err.Error(), "more than 2^62 of a resource is used of node")
}
