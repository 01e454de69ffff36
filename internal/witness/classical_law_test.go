package witness_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
)

// TestClassical: the engine and the witness decide alike in classical sharing. By hand:
//
//	go test ./internal/witness -run TestClassical -rapid.seed 7 -rapid.checks 7000
func TestClassical(t *testing.T) {
	ask(t, classicalQuestions())
}

// classicalQuestions draws questions of classical sharing.
func classicalQuestions() *rapid.Generator[question] {
	return questions(func(c *preemption.Config) {
		c.Sharing, c.Strategies, c.Compat.Kueue016 = preemption.Classical, nil, false
	})
}
