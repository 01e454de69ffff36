package right_test

import (
	"testing"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// stableCase begins with a request of priority 5 in queue "mine", in stable sharing. "mine" and "peer" have 2 GPUs each.
func stableCase(t *testing.T, asks []int64, columns []string, running ...workload.Workload) (*cluster.Cluster, *right.Case) {
	t.Helper()
	anyPriority := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority, ReclaimWithinCohort: queue.Any}
	queues := []queue.Queue{of("mine", 2, anyPriority), of("peer", 2, anyPriority)}
	all, err := cluster.New([]queue.Cohort{{Name: "org"}}, queues, running)
	if err != nil {
		t.Fatal(err)
	}
	r := &right.Request{Priority: 5, Queued: noon.UnixNano(), Now: noon.UnixNano(), Amounts: asks, Needs: make([]bool, len(asks)),
		Fair: right.Fairness{First: right.FinalShare, EntitlesNominal: true, Stable: true}}
	r.Queue, _ = all.QueueNode("mine")
	for _, resource := range columns {
		column := gpu
		column.Resource = resource
		r.Columns = append(r.Columns, all.Columns.Number(column))
	}
	c := &right.Case{}
	c.Begin(all, r)
	c.CollectLevels()
	return all, c
}

// Point 2 of docs/stability.md: "With the request and without the victims the preemptor's queue must have a share that is larger than
// before and at most that of each queue in which equals yield. In the own queue, equals of lower rank yield if the share of the queue
// does not become smaller."
func TestMayTakeEquals(t *testing.T) {
	mine := runs("mine", "mine", 5, 2, 60)
	for name, c := range map[string]struct {
		running []workload.Workload // besides mine, which is within the quota
		asks    int64
		taken   []string
		takes   string
		want    bool
	}{
		"both have the same share then":      {running: []workload.Workload{runs("one", "peer", 5, 1, 9), runs("rest", "peer", 5, 3, 30)}, asks: 1, takes: "one", want: true},
		"the other would have a smaller one": {running: []workload.Workload{runs("one", "peer", 5, 1, 9), runs("rest", "peer", 5, 3, 30)}, asks: 2, takes: "one"},
		"the other would have a larger one":  {running: []workload.Workload{runs("one", "peer", 5, 1, 9), runs("rest", "peer", 5, 4, 30)}, asks: 1, takes: "one", want: true},
		"in the own queue, the same share":   {running: []workload.Workload{runs("own", "mine", 5, 1, -9)}, asks: 1, takes: "own", want: true},
		"in the own queue, a larger share":   {running: []workload.Workload{runs("own", "mine", 5, 1, -9)}, asks: 2, takes: "own", want: true},
		"in the own queue, a smaller share":  {running: []workload.Workload{runs("own", "mine", 5, 2, -9)}, asks: 1, takes: "own"},
		"the same share, an equal has yielded": {running: []workload.Workload{runs("own", "mine", 5, 1, -9), runs("one", "peer", 5, 1, 9), runs("rest", "peer", 5, 3, 30)},
			asks: 1, taken: []string{"one"}, takes: "own"},
		"the same share, and an equal of another queue": {running: []workload.Workload{runs("own", "mine", 5, 1, -9), runs("one", "peer", 5, 1, 9), runs("rest", "peer", 5, 3, 30)},
			asks: 1, taken: []string{"own"}, takes: "one"},
		"the same share, a lower one has yielded": {running: []workload.Workload{runs("own", "mine", 5, 1, -9), runs("lower", "peer", 4, 1, 9), runs("rest", "peer", 5, 3, 30)},
			asks: 1, taken: []string{"lower"}, takes: "own", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			all, judge := stableCase(t, []int64{c.asks}, []string{gpu.Resource}, append(c.running, mine)...)
			victim := func(id string) right.Victim {
				w, ok := all.Find(id)
				if !ok {
					t.Fatalf("no %q", id)
				}
				v := right.Victim{Workload: w, Set: -1, Cohort: -1}
				v.Queue, _ = all.QueueNode(w.Facts.Queue())
				return v
			}
			for _, id := range c.taken {
				judge.Taken = append(judge.Taken, victim(id))
			}
			v := victim(c.takes)
			if got := judge.MayTake(&v); got != c.want {
				t.Errorf("%t, want %t", got, c.want)
			}
		})
	}
}

// Stable entitles a preemptor within its nominal quota "in everything of which its tree has a quota and in all that is asked".
func TestEntitledWithStable(t *testing.T) {
	cpus := func(w *workload.Workload) { w.PodSets[0].Requests[0].Resource = "cpu" }
	for name, c := range map[string]struct {
		running workload.Workload
		gpus    int64
		cpus    int64
		want    bool
	}{
		"within the quota":                       {running: runs("w", "mine", 5, 1, 9), gpus: 1, want: true},
		"over the quota":                         {running: runs("w", "mine", 5, 1, 9), gpus: 2},
		"over the quota in what nobody asks for": {running: runs("w", "mine", 5, 3, 9)},
		"without a quota, and asked for":         {running: with(runs("w", "mine", 5, 1, 9), cpus), gpus: 1, cpus: 1},
		"without a quota, and none is asked for": {running: with(runs("w", "mine", 5, 1, 9), cpus), gpus: 1, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			if _, judge := stableCase(t, []int64{c.gpus, c.cpus}, []string{"gpu", "cpu"}, c.running); judge.Entitled() != c.want {
				t.Errorf("%t, want %t", !c.want, c.want)
			}
		})
	}
}
