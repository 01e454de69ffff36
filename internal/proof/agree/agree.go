// Package agree compares decisions of the engine with those of the witness. All laws that do so have one list of what
// is not compared. It is for tests.
package agree

import (
	"encoding/json"
	"fmt"

	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
)

// Diff asks the witness about a state and a request, and returns both decisions, as far as they are compared, if that of the
// engine is another one. It is empty if both agree, or if a known disagreement holds, which it names.
func Diff(c preemption.Config, st preemption.State, r preemption.Request, engine preemption.Decision) (known, diff string) {
	q := question{c, st, r}
	mine, theirs := form(witness.Said(c, st, r, engine)), form(witness.Said(c, st, r, witness.Decide(c, st, r)))
	if mine == theirs {
		return "none", ""
	}
	for _, k := range knownDisagreements {
		if k.holds(q) {
			return k.name, ""
		}
	}
	return "", difference(mine, theirs)
}

// form is a decision as text: in JSON a list that is empty is none.
func form(d any) string {
	data, err := json.Marshal(d)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func difference(mine, theirs string) string {
	return fmt.Sprintf("- engine, + witness:\n- %s\n+ %s\n", mine, theirs)
}

// question is what both were asked.
type question struct {
	preemption.Config
	preemption.State
	preemption.Request
}

// knownDisagreements are those in which the engine is not what the words say, each with a predicate
// outside of which none is excused.
var knownDisagreements = []struct {
	name  string
	holds func(question) bool
}{
	{"not known to the witness", question.notKnown},
}

// notKnown: the witness does not decide by better searches than Greedy.
func (q question) notKnown() bool { return q.Search != preemption.Greedy }
