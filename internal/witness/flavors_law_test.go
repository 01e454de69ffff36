package witness_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// TestFlavors: the engine and the witness assign the same flavors for the same reasons, and decide alike.
func TestFlavors(t *testing.T) {
	ask(t, flavorQuestions())
}

// flavorQuestions draws questions in which some requests have no flavor.
func flavorQuestions() *rapid.Generator[question] {
	return rapid.Custom(func(t *rapid.T) question {
		q := question{preemptiontest.Configs().Draw(t, "config"), preemptiontest.RecordsWithoutFlavors().Draw(t, "record")}
		q.Config.Compat.Kueue016 = q.Config.Compat.Kueue016 && q.Config.Sharing != preemption.Stable
		q.Config.MaxBlockers = 99
		widen(t, &q.Config, &q.Record)
		for range rapid.IntRange(0, 2).Draw(t, "earlier trials") {
			q.Record.Request.Continue = decide(t, q.Config, q.Record).Assignment
		}
		return q
	})
}
