package preemption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/asrules"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// Rules that say the same as policies look at each workload of the queues that they reach, a few times. Where
// there are victims, they ask at most half as often again whether the request fits.
func TestStepsOfRules(t *testing.T) {
	for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
		c := preemption.Config{Sharing: sharing}
		for _, w := range []scenario.World{scenario.Worlds[0], scenario.Worlds[5]} {
			policies := w.State()
			ruled, config := asrules.Of(w.State(), c)
			sPolicies, sOne := snapshotOf(t, policies), snapshotOf(t, ruled)
			p, byRules := preemptorOf(c), preemptorOf(config)
			checked := 0
			for _, sc := range w.Scenarios() {
				if sc.ClassicalOnly && sharing == preemption.Fair {
					continue
				}
				count := func(p *preemption.Preemptor, s *preemption.Snapshot) preemption.Work {
					_, n, err := p.Work(s, sc.Request)
					if err != nil {
						t.Fatal(err)
					}
					return n
				}
				d := must(byRules.Decide(sOne, sc.Request))(t)
				if d.Outcome == preemption.Wait {
					continue // as often for each instant
				}
				most := 4 * len(policies.Admitted)
				a, b := count(p, sPolicies), count(byRules, sOne)
				if b.Workloads > most || len(d.Victims) > 0 && 2*b.Trials > 3*a.Trials {
					t.Errorf("%v, %s, %s: %+v by policies, %+v by rules", sharing, w.ID, sc.Name, a, b)
				}
				if len(d.Victims) > 0 {
					checked++
				}
			}
			if checked < 10 {
				t.Errorf("%v, %s: only %d scenarios with victims", sharing, w.ID, checked)
			}
		}
	}
}

// What a decision by rules allocates does not grow with its victims: these, their rules and the
// selectors of these, the tier, the triggers, and what putting back asks.
func TestDecideByRulesAllocatesItsResult(t *testing.T) {
	w := worlds[0]
	one, config := asrules.Of(w.State(), preemption.Config{})
	s, p := snapshotOf(t, one), preemptorOf(config)
	checked := 0
	for _, q := range questions(w) {
		decide := deciding(t, p, s, q.request)
		d := decide() // fills the pool
		if len(d.Victims) == 0 || len(d.Victims[0].Rules) == 0 {
			continue
		}
		checked++
		if n := testing.AllocsPerRun(10, func() { decide() }); n > 5 && !raceEnabled {
			t.Errorf("%s: %v allocations for %d victims, want 5", q.name, n, len(d.Victims))
		}
	}
	if checked < 4 {
		t.Errorf("only %d with victims", checked)
	}
}

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
