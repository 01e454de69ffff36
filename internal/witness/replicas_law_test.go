package witness_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// TestManyReplicas: the engine, which takes replicas that are alike by arithmetic, decides like the witness, which takes
// them one by one. Some run of replicas is cut short by each thing that can: another queue is next, its queue gives
// nothing, a strategy refuses, the request fits.
func TestManyReplicas(t *testing.T) {
	some, more := 0, 0
	ask(t, manyQuestions(), func(q question, d preemption.Decision) {
		for _, v := range d.Victims {
			for _, r := range v.Replicas {
				if some++; r.Count > 3 {
					more++
				}
			}
		}
	})
	if t.Logf("%d times replicas yield, %d times more than three", some, more); more*4 < some {
		t.Errorf("of %d times that replicas yield, %d are more than three", some, more)
	}
}

// manyQuestions draws questions of states in which workloads have many replicas more than they need.
func manyQuestions() *rapid.Generator[question] {
	return rapid.Custom(func(t *rapid.T) question {
		q := questions(func(c *preemption.Config) {
			c.Compat.Kueue016 = c.Compat.Kueue016 && c.Sharing != preemption.Stable
		}).Draw(t, "question")
		for i := range q.Record.State.Admitted {
			w := &q.Record.State.Admitted[i]
			for j := range w.PodSets {
				p := &w.PodSets[j]
				if _, elastic := p.MinCount.Get(); elastic || rapid.Bool().Draw(t, "made elastic") && p.Terminating == 0 {
					p.MinCount = workload.AtLeast(rapid.Int64Range(0, 2).Draw(t, "at least"))
					p.Count += rapid.Int64Range(0, 25).Draw(t, "more replicas")
				}
			}
		}
		times := rapid.Int64Range(1, 12).Draw(t, "times as much")
		for i := range q.Record.Request.Workload.PodSets {
			q.Record.Request.Workload.PodSets[i].Count *= times
		}
		for i := range q.Record.State.Queues {
			for j := range q.Record.State.Queues[i].Quotas {
				of := &q.Record.State.Queues[i].Quotas[j].Nominal
				*of = quota.Mul(*of, rapid.Int64Range(1, 12).Draw(t, "times the quota"))
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "room") == 0 {
			q.Record.Request.Room = placesFor(t, q)
		}
		return q
	})
}
