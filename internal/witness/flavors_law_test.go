package witness_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// TestFlavors: the engine and the witness assign the same flavors, as far as the answer shows them, and
// decide alike. Which flavors the nodes permit is another question: no record here has constraints.
func TestFlavors(t *testing.T) {
	ask(t, rapid.Custom(func(t *rapid.T) question {
		q := question{preemptiontest.Configs().Draw(t, "config"), preemptiontest.RecordsWithoutFlavors().Draw(t, "record")}
		if q.Config.Sharing == preemption.Stable {
			q.Config.Sharing = preemption.Fair
		}
		q.Record.State.Flavors = nil
		for i := range q.Record.Request.Workload.PodSets {
			q.Record.Request.Workload.PodSets[i].NodeConstraints = nil
		}
		return q
	}))
}
