package preemption_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// circles is small clusters in which workloads were seen to evict each other for ever,
// each with a configuration; loops says whether they still do. Two causes are known: who
// is entitled to its nominal quota is judged in what needs preemption alone, so that one
// that borrows of something else reclaims as if it did not; and victims that are no longer
// justified once others were put back.
var circles = []struct {
	record string
	config preemption.Config
	loops  bool
}{
	{"loop-2-fair", preemption.Config{Sharing: preemption.Fair}, true},
	{"loop-3-fair", preemption.Config{Sharing: preemption.Fair}, true},
}

// TestCircles fails for one that begins to loop, and for one that no longer does, so that
// the list stays right.
func TestCircles(t *testing.T) {
	files, _ := filepath.Glob("testdata/loop-*.json")
	if len(files) != len(circles) {
		t.Errorf("%d records, %d of them listed", len(files), len(circles))
	}
	for _, c := range circles {
		t.Run(c.record, func(t *testing.T) {
			record := readRecord(t, "testdata/"+c.record+".json")
			steps, loops := playOn(t, c.config, record)
			if loops != c.loops {
				t.Errorf("loops: %v, listed as %v:\n%s", loops, c.loops, strings.Join(steps, "\n"))
			}
			stable := c.config
			stable.Sharing = preemption.Stable
			if steps, loops := playOn(t, stable, record); loops {
				t.Errorf("with Stable it loops:\n%s", strings.Join(steps, "\n"))
			}
		})
	}
}

// TestCircleOfAny: in each of two queues a small workload has its nominal quota back from
// the other queue's large one, which is of higher priority; and the large one of its own
// queue, which borrows, takes its place. LowerPriority closes that, by which nobody has
// anything back from one of higher priority, and so does Stable, by which nobody who borrows
// takes from the nominal quota of his own queue; fair sharing does not, not even as strict as can be.
func TestCircleOfAny(t *testing.T) {
	strict := preemption.Config{Sharing: preemption.Fair, Search: preemption.Best, Best: preemption.BestSearch{Steps: -1}, Compat: preemption.Compat{Kueue016: true}}
	for _, c := range []preemption.Config{{}, {Sharing: preemption.Fair}, strict, {Sharing: preemption.Stable}} {
		for _, reclaim := range []queue.VictimPolicy{queue.LowerPriority, queue.Any} {
			want := reclaim == queue.Any && c.Sharing != preemption.Stable
			policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: reclaim}
			st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}, Queues: []queue.Queue{
				{Name: "a", Cohort: "root", Quotas: gpus(2), Preemption: policy},
				{Name: "b", Cohort: "root", Quotas: gpus(2), Preemption: policy},
			}}
			steps, loops := playAll(t, c, st,
				job("a/large", "a", 5, 3, now), job("a/small", "a", 0, 2, now),
				job("b/large", "b", 5, 3, now), job("b/small", "b", 0, 2, now))
			if loops != want {
				t.Errorf("%v, %v: loops %v, want %v:\n%s", c.Sharing, reclaim, loops, want, strings.Join(steps, "\n"))
			}
		}
	}
}

func readRecord(t *testing.T, name string) (r preemption.Record) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || r.Request == nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// playOn plays a record: its workload waits.
func playOn(t *testing.T, c preemption.Config, record preemption.Record) (steps []string, loops bool) {
	return playAll(t, c, record.State, record.Request.Workload)
}

// playAll lets the waiting workloads ask in queue order.
func playAll(t *testing.T, c preemption.Config, st preemption.State, waiting ...workload.Workload) (steps []string, loops bool) {
	s := start{st, waiting, c}
	steps, _, loops = s.play(t, func(int) int { return 0 })
	return steps, loops
}
