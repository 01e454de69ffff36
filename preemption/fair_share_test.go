package preemption_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
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
