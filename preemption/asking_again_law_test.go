package preemption_test

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// Leaving is leaving: a request that is asked again, when its victims were told to stop and are
// still there, takes nothing that was not told to stop.
func askingAgainTakesNoMore(t *rapid.T, config preemption.Config) {
	rec := preemptiontest.Records().Draw(t, "record")
	takesNoMore(t, config, rec.State, *rec.Request, decideWith(t, config, snapshotOf(t, rec.State), *rec.Request))
}

func takesNoMore(t *rapid.T, config preemption.Config, st preemption.State, r preemption.Request, d preemption.Decision) {
	if d.Outcome != preemption.Preempt {
		return
	}
	again := decideWith(t, config, edit(t, snapshotOf(t, st), d.Edits()...), r)
	if again.Outcome != preemption.Preempt {
		t.Fatalf("%v, asked again %v", d.Victims, again.Outcome)
	}
	if !leavingAlone(again) {
		t.Fatalf("%v, asked again %v: not all were told to stop", d.Victims, again.Victims)
	}
	if edits := again.Edits(); len(edits) > 0 {
		t.Fatalf("%v, asked again %v: %d edits more", d.Victims, again.Victims, len(edits))
	}
}

// leavingAlone reports whether all victims were told to stop before.
func leavingAlone(d preemption.Decision) bool {
	return len(d.Victims) > 0 && !slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return !v.Leaving })
}
