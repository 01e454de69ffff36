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
