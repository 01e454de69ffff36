package preemption_test

import (
	"os"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// borrowers is a cohort that lends ten, to queues without quota of their own.
func borrowers(policy queue.PreemptionPolicy, names ...string) preemption.State {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues:  []queue.Queue{{Name: "lender", Cohort: "c", Quotas: gpus(10)}},
	}
	for _, name := range names {
		st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: "c", Quotas: gpus(0), Preemption: policy})
	}
	return st
}

func fairText(t *testing.T, c preemption.Config, st preemption.State, r preemption.Request) string {
	t.Helper()
	c.Sharing = preemption.Fair
	d, err := preemptorOf(c).Decide(snapshotOf(t, st), r)
	if err != nil {
		t.Fatal(err)
	}
	return text(d)
}

var fairPolicy = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}

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

// Whether the others are justified without a victim may change with every one that is
// put back: in the first record it takes a second look to see that w04 alone is enough. A
// workload that goes whole is one victim, with its surplus: in the second, w03 alone is.
func TestRecheckIsIrreducible(t *testing.T) {
	for file, want := range map[string]string{
		"recheck-irreducible": "Preempt: w04 InCohortFairSharing",
		"recheck-elastic":     "Preempt: ns/w03 InCohortFairSharing",
	} {
		data, err := os.ReadFile("testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		record, err := preemption.ParseRecord(data)
		if err != nil {
			t.Fatal(err)
		}
		config := preemption.Config{Sharing: preemption.Fair, Fair: preemption.FairSharing{RecheckShares: true}}
		if got := fairText(t, config, record.State, *record.Request); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
