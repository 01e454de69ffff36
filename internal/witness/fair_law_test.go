package witness_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
)

// TestFair: the engine and the witness decide alike by the shares.
func TestFair(t *testing.T) {
	ask(t, questions(func(c *preemption.Config) {
		c.Sharing = preemption.Fair
	}))
}

// TestReevaluated: the same with the gate that runs the first strategy again.
func TestReevaluated(t *testing.T) {
	ask(t, questions(func(c *preemption.Config) {
		c.Sharing = preemption.Reevaluated
	}))
}

// TestStableSearch: the same where nominal quota comes before priority and priority before shares.
func TestStableSearch(t *testing.T) {
	ask(t, questions(func(c *preemption.Config) {
		c.Sharing = preemption.Stable
		c.Compat.Kueue016 = false
	}))
}
