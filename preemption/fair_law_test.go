package preemption_test

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// With Stable there is an order of the victims in which each that is taken by
// fair sharing passes a strategy, with only those before it gone; and no part of them,
// so justified, is enough.
func fairVictimsAreJustified(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	config := preemptiontest.Configs().Draw(t, "config")
	protect(t, &config, &record.State)
	config.Sharing, config.Compat.Kueue016 = preemption.Stable, false
	d := must(preemptorOf(config).Decide(snapshotOf(t, record.State), *record.Request))(t)
	if len(d.Victims) > 6 || leavingAlone(d) || slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return len(v.Replicas) > 0 }) {
		return // too many orders
	}
	if !justified(config, record.State, *record.Request, d.Victims) {
		t.Fatalf("no order justifies %+v", d.Victims)
	}
	for set := range 1<<len(d.Victims) - 1 {
		var part []preemption.Victim
		for i, v := range d.Victims {
			if set>>i&1 == 1 {
				part = append(part, v)
			}
		}
		if fitsWithout(config, record.State, *record.Request, part, true) && justified(config, record.State, *record.Request, part) {
			t.Fatalf("%v would do for %v", ids(part), ids(d.Victims))
		}
	}
}
