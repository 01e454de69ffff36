package witness_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
)

// TestFair: the engine and the witness decide alike by the shares.
func TestFair(t *testing.T) { ask(t, fairQuestions(preemption.Fair)) }

// TestReevaluated: the same with the gate that runs the first strategy again.
func TestReevaluated(t *testing.T) { ask(t, fairQuestions(preemption.Reevaluated)) }

// TestStableSearch: the same where nominal quota comes before priority and priority before shares.
func TestStableSearch(t *testing.T) { ask(t, fairQuestions(preemption.Stable)) }

// fairQuestions draws questions of a sharing by shares.
func fairQuestions(sharing preemption.Sharing) *rapid.Generator[question] {
	return questions(func(c *preemption.Config) {
		c.Sharing = sharing
		c.Compat.Kueue016 = c.Compat.Kueue016 && sharing != preemption.Stable
	})
}
