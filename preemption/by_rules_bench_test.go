package preemption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// ruled is a tree of 100 queues with as many workloads of one GPU each, in which one of 4 GPUs
// waits. Its victims are given by policies, or by one rule that says the same.
func ruled(workloads int, by string) (preemption.State, preemption.Request) {
	const queues = 100
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "root"}}}
	config := rules.Config{Name: "rules"}
	if by != "policies" {
		config.Rules = []rules.Rule{{Name: "lower", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{
			{Scope: rules.WithinCohortTree, Priority: rules.Priority{Mode: rules.Boosted, Comparison: rules.LessThan}},
		}}}
	}
	for i := range queues {
		q := queue.Queue{Name: fmt.Sprintf("q%02d", i), Cohort: "root", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: int64(workloads / queues)}}}
		if by == "policies" {
			q.Preemption = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}
		} else {
			q.Rules = "rules"
		}
		st.Queues = append(st.Queues, q)
	}
	for i := range workloads {
		w := onGPUs(fmt.Sprintf("w%07d", i), st.Queues[i%queues].Name, 1)
		w.PodSets[0].Requests[0].Flavor = "f"
		w.Priority, w.ReservedAt, w.Labels = int64(i%7), now.Add(-time.Duration(i)*time.Second), map[string]string{"team": "some"}
		st.Admitted = append(st.Admitted, w)
	}
	st.Rules = []rules.Config{config}
	r := preemption.Request{Workload: onGPUs("waits", "q00", 4), Now: now}
	r.Workload.Priority = 9
	return st, r
}

func BenchmarkRules(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		for _, by := range []string{"policies", "one rule"} {
			b.Run(fmt.Sprint(n, "/", by), func(b *testing.B) {
				st, r := ruled(n, by)
				s := must(preemption.NewSnapshot(st))(b)
				p := preemptorOf(preemption.Config{})
				b.ReportAllocs()
				for b.Loop() {
					if d, err := p.Decide(s, r); err != nil || len(d.Victims) != 4 {
						b.Fatal(d, err)
					}
				}
			})
		}
	}
}
