package preemption_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
)

// Every decision is one that Verify has nothing against.
func decisionsVerify(t *rapid.T) {
	records := preemptiontest.Records()
	if rapid.IntRange(0, 4).Draw(t, "without flavors") == 0 {
		records = preemptiontest.RecordsWithoutFlavors()
	}
	record := records.Draw(t, "record")
	st, r := record.State, *record.Request
	config := preemptiontest.Configs().Draw(t, "config")
	protect(t, &config, &st)
	reevaluate(t, &config)
	r.Room = drawRoom(t, st)
	d := decideWith(t, config, snapshotOf(t, st), r)
	if err := verify.Decision(st, r, config, d); err != nil {
		t.Fatalf("%+v\n%v", d, err)
	}
}

func TestDecisionsVerify(t *testing.T) { rapid.Check(t, decisionsVerify) }
