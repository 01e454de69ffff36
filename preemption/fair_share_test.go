package preemption_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The largest usage and the largest request are a share, too: it is more than that of the
// queue that uses a little of something else, which nobody may take from.
func TestLargestShare(t *testing.T) {
	for _, c := range []struct{ huge, small string }{{"gpu", "cpu"}, {"cpu", "gpu"}} {
		of := func(id, queueName string, huge, small int64) workload.Workload {
			w := taking(workload.Workload{ID: id, Queue: queueName, Created: now, Queued: now, ReservedAt: started(5)}, c.huge, huge)
			return taking(w, c.small, small)
		}
		none := []quota.Quota{quotaOf(c.huge, 0), quotaOf(c.small, 0)}
		kept := quotaOf(c.huge, quota.MaxUsage)
		kept.LendingLimit = quota.AtMost(0)
		for _, row := range []struct {
			holder string // of the largest usage: the preemptor's own queue, one beside it
			quotas []quota.Quota
		}{
			{"a", none},
			{"b", none},
			{"b", []quota.Quota{kept, none[1]}}, // the root does not see what b uses
		} {
			st := preemption.State{
				Cohorts: []queue.Cohort{{Name: "in", Parent: "root", Quotas: row.quotas}, {Name: "root", Quotas: []quota.Quota{quotaOf(c.huge, quota.MaxUsage), quotaOf(c.small, 4)}}},
				Queues: []queue.Queue{
					{Name: "a", Cohort: "in", Quotas: none, Preemption: fairPolicy},
					{Name: "b", Cohort: "in", Quotas: none, FairWeight: quota.WeightOf(0.5)}, {Name: "far", Cohort: "root", Quotas: none},
				},
				Admitted: []workload.Workload{of("huge", row.holder, quota.MaxUsage, 0), of("small", "far", 0, 2), of("small too", "far", 0, 2)},
			}
			r := preemption.Request{Workload: of("pending", "a", quota.MaxUsage, 1), Now: now}
			r.Workload.Priority = 10
			wantText(t, fairText(t, preemption.Config{}, st, r), "Impossible: FairShare far small", "%s, used in %s", c.huge, row.holder)
		}
	}
}

// The share of a borrower of weight zero is larger than any other.
func TestShareOfZeroWeight(t *testing.T) {
	st := borrowers(fairPolicy, "a", "b", "z")
	st.Queues[3].FairWeight = quota.WeightOf(0)
	st.Admitted = []workload.Workload{job("b1", "b", 0, 9, started(5)), job("z1", "z", 100, 1, started(500))}
	s := snapshotOf(t, st)
	z, _ := s.QueueShare("z")
	b, _ := s.QueueShare("b")
	if z.Compare(b.Share) <= 0 || z.DominantResource != "gpu" || b.Ratio != 900 {
		t.Errorf("%+v, %+v", z, b)
	}
}

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
