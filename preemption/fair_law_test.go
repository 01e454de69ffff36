package preemption_test

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// With RecheckShares, and with Stable, there is an order of the victims in which each that is taken by
// fair sharing passes a strategy, with only those before it gone; and no part of them,
// so justified, is enough.
func fairVictimsAreJustified(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	config := preemptiontest.Configs().Draw(t, "config")
	protect(t, &config, &record.State)
	config.Sharing, config.Fair.RecheckShares = preemption.Fair, !config.Fair.Stable
	d, err := preemptorOf(config).Decide(snapshotOf(t, record.State), *record.Request)
	if err != nil {
		t.Fatal(err)
	}
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

// A queue that borrows nothing of what needs preemption is never taken from by another.
func onlyBorrowersAreTakenFrom(t *rapid.T, config preemption.Config) {
	st, r, d := draw(t, config)
	s := snapshotOf(t, st)
	needed := r.NeedsPreemption
	if needed == nil {
		for _, a := range r.Workload.Usage() {
			needed = append(needed, a.FlavorResource())
		}
	}
	for _, v := range d.Victims {
		rows, _ := s.QueueStatus(v.Queue)
		if v.Cohort != "" && !slices.ContainsFunc(rows, func(q preemption.QuotaStatus) bool {
			return q.Borrowed > 0 && slices.Contains(needed, q.FlavorResource)
		}) {
			t.Fatalf("%+v, but its queue borrows nothing of %v", v, needed)
		}
	}
}

// Who borrows how much is a matter of usage alone.
func sharesDoNotDependOnPriorities(t *rapid.T) {
	st := preemptiontest.States().Draw(t, "state")
	before := snapshotOf(t, st)
	for i := range st.Admitted {
		st.Admitted[i].Priority = rapid.Int64Range(-5, 5).Draw(t, "priority")
	}
	after := snapshotOf(t, st)
	for _, q := range st.Queues {
		a, _ := before.QueueShare(q.Name)
		if b, _ := after.QueueShare(q.Name); a != b {
			t.Fatalf("queue %q: %+v, with other priorities %+v", q.Name, a, b)
		}
	}
	for _, c := range st.Cohorts {
		a, _ := before.CohortShare(c.Name)
		if b, _ := after.CohortShare(c.Name); a != b {
			t.Fatalf("cohort %q: %+v, with other priorities %+v", c.Name, a, b)
		}
	}
}
