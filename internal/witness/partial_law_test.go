package witness_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
)

// TestPartial: the engine and the witness admit with the same numbers of replicas.
func TestPartial(t *testing.T) {
	ask(t, partialQuestions())
}

// partialQuestions draws questions in which fewer replicas will do.
func partialQuestions() *rapid.Generator[question] {
	return rapid.Custom(func(t *rapid.T) question {
		q := questions(func(c *preemption.Config) {
			c.Compat.Kueue016 = c.Compat.Kueue016 && c.Sharing != preemption.Stable
		}).Draw(t, "question")
		r := q.Record.Request
		r.NeedsPreemption = nil
		for i := range r.Workload.PodSets {
			p := &r.Workload.PodSets[i]
			if p.Totals || rapid.IntRange(0, 4).Draw(t, "all") == 0 {
				continue
			}
			p.Count = max(p.Count, rapid.Int64Range(0, 5).Draw(t, "count"))
			r.MinCounts = append(r.MinCounts, preemption.Replicas{PodSet: p.Name, Count: rapid.Int64Range(0, p.Count).Draw(t, "least")})
		}
		return q
	})
}
