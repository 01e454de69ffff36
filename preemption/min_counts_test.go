package preemption_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

func TestMinCountsAreValidated(t *testing.T) {
	r := pending("a", 10, 4)
	main := r.Workload.PodSets[0]
	totals, huge := main, main
	totals.Name, totals.Totals = "totals", true
	huge.Name, huge.Count = "huge", workload.MaxElasticCount+1
	r.Workload.PodSets = []workload.PodSet{main, totals, huge}
	r.Room = &space{}
	r.MinCounts = []preemption.Replicas{{PodSet: "none", Count: 1}, {PodSet: "main", Count: -1}, {PodSet: "main", Count: 1}, {PodSet: "totals", Count: 1}, {PodSet: "huge", Count: 1}}
	_, err := new(preemption.Preemptor).Decide(snapshotOf(t, preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4)}}}), r)
	wantFaults(t, err,
		`request.minCounts[0].podSet: the workload has no pod set "none"`,
		`request.minCounts[1].count: -1 is not within 0 and 4, the replicas of pod set "main"`,
		`request.minCounts[2].podSet: "main" has an entry already`,
		`request.minCounts[3].podSet: the totals of pod set "totals" do not say what a replica takes`,
		`request.minCounts[4].count: pod set "huge" has 1048577 replicas: more than 1048576`,
		"request.minCounts: 5 entries, and a Room, which asks about all replicas",
	)
}

// The numbers of a cohort are those of all its queues.
func TestCohortStatus(t *testing.T) {
	s := snapshotOf(t, preemption.State{
		Cohorts:  []queue.Cohort{{Name: "root"}, {Name: "left", Parent: "root"}},
		Queues:   []queue.Queue{{Name: "a", Cohort: "left", Quotas: gpus(4)}, {Name: "b", Cohort: "left", Quotas: gpus(2)}, {Name: "c", Cohort: "root", Quotas: gpus(3)}},
		Admitted: []workload.Workload{job("x", "a", 0, 5, started(1)), job("y", "b", 0, 1, started(1))},
	})
	rows, ok := s.CohortStatus("left")
	if !ok || len(rows) != 1 || rows[0].Usage != 6 || rows[0].Nominal != 0 || rows[0].Flavor != "h100" || rows[0].Resource != "gpu" {
		t.Errorf("left: %+v, %t", rows, ok)
	}
	if rows, ok := s.CohortStatus("nowhere"); ok || rows != nil {
		t.Errorf("nowhere: %+v", rows)
	}
}
