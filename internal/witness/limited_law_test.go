package witness_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
)

// TestLimited: the engine and the witness decide alike where preemptions in a window are limited.
func TestLimited(t *testing.T) {
	ask(t, limitedQuestions())
}

// limitedQuestions draws questions under limits.
func limitedQuestions() *rapid.Generator[question] {
	return rapid.Custom(func(t *rapid.T) question {
		q := questions(func(c *preemption.Config) {
			c.Compat.Kueue016 = c.Compat.Kueue016 && c.Sharing != preemption.Stable
		}).Draw(t, "question")
		limit(t, &q)
		return q
	})
}
