package why_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func amount(n int64) []quota.Amount {
	return []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: n}}
}

func runs(id, in string, priority, gpus int64) workload.Workload {
	at := noon.Add(-time.Hour)
	return workload.Workload{ID: id, UID: id, Queue: in, Priority: priority, Created: at, Queued: at, ReservedAt: at, AdmittedAt: at,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: amount(gpus)}}}
}

// Of each queue that uses what is short the blockers name the rule that keeps it, and its first workload; they are at most as many as are
// asked for, and a queue that uses nothing of it is none.
func TestBlockersNameTheRule(t *testing.T) {
	q := func(name string, nominal int64) queue.Queue {
		return queue.Queue{Name: name, Cohort: "org", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: nominal}},
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.LowerPriority}}
	}
	never := runs("never", "opted-out", 1, 5)
	never.NeverYields = true
	all, err := cluster.New([]queue.Cohort{{Name: "org"}}, []queue.Queue{q("mine", 4), q("within", 4), q("high", 4), q("opted-out", 4), q("empty", 0)},
		[]workload.Workload{runs("own-high", "mine", 9, 2), runs("own-higher", "mine", 10, 1), runs("modest", "within", 1, 3), runs("high", "high", 7, 5), never})
	if err != nil {
		t.Fatal(err)
	}
	node, _ := all.QueueNode("mine")
	r := &right.Request{Queue: node, Priority: 5, Queued: noon.UnixNano(), Now: noon.UnixNano(),
		Columns: []int{all.Columns.Number(quota.FlavorResource{Flavor: "h100", Resource: "gpu"})}, Amounts: []int64{4}, FindNeeds: true, Needs: []bool{false},
		Retry: right.Retry{MaxSteps: 1000}}
	want := []string{
		fmt.Sprint("mine ", trace.WithinClusterQueue, " own-high"), fmt.Sprint("high ", trace.ReclaimWithinCohort, " high"),
		fmt.Sprint("opted-out ", trace.NeverYields, " never"), fmt.Sprint("within ", trace.WithinNominal, " "),
	}
	for most := range 6 {
		var s decide.Searcher
		result := s.Search(all, r, nil, most)
		if len(result.Victims) > 0 || result.Fits {
			t.Fatalf("%+v", result)
		}
		var got []string
		for _, b := range result.Blockers {
			line := ""
			if at, _ := all.QueueNode("within"); b.Node == at {
				line = fmt.Sprintf("within %v ", b.Rule)
			}
			if b.Workload != nil {
				line = fmt.Sprintf("%s %v %s", b.Workload.Facts.Queue(), b.Rule, b.Workload.Facts.ID)
			}
			got = append(got, line)
		}
		if slices.Sort(got); len(slices.Compact(slices.Clone(got))) != min(most, len(want)) || slices.ContainsFunc(got, func(line string) bool { return !slices.Contains(want, line) }) {
			t.Errorf("at most %d: %q, want of %q", most, got, want)
		}
	}
}
