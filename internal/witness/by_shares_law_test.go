package witness_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

func TestByShares(t *testing.T) {
	outcomes := map[preemption.Outcome]int{}
	rapid.Check(t, func(t *rapid.T) {
		record, config := preemptiontest.FairShareRecords().Draw(t, "record"), preemption.Config{Sharing: preemption.KAI}
		if rapid.Bool().Draw(t, "method") {
			config.MinRuntime.Method = minruntime.Queue
		}
		outcomes[witness.ByShares(t, record.State, *record.Request, config)]++
	})
	for _, o := range []preemption.Outcome{preemption.Fits, preemption.Preempt, preemption.Impossible} {
		if outcomes[o] == 0 {
			t.Errorf("no decision is %v: %v", o, outcomes)
		}
	}
	t.Log(outcomes)
}
