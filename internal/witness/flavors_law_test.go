package witness_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// TestFlavors: the engine and the witness assign the same flavors, as far as the answer shows them, and
// decide alike.
func TestFlavors(t *testing.T) {
	ask(t, rapid.Custom(func(t *rapid.T) question {
		q := question{preemptiontest.Configs().Draw(t, "config"), preemptiontest.RecordsWithoutFlavors().Draw(t, "record")}
		q.Config.Compat.Kueue016 = q.Config.Compat.Kueue016 && q.Config.Sharing != preemption.Stable
		return q
	}))
}
