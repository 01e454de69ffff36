package preemption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// manyEvents is a cluster in which many preemptions were confirmed: each queue is full of workloads that take
// a GPU each, and who asks in the first one needs some of them.
func manyEvents(queues, workloads, events int, every time.Duration) (st preemption.State, r preemption.Request) {
	st.Cohorts = []queue.Cohort{{Name: "all"}}
	name := func(i int) string { return fmt.Sprintf("q%04d", i%queues) }
	for i := range queues {
		st.Queues = append(st.Queues, queue.Queue{Name: name(i), Cohort: "all", Quotas: gpus(int64(workloads / queues)), Preemption: reclaims,
			Labels: map[string]string{"number": name(i)}})
	}
	for i := range workloads {
		st.Admitted = append(st.Admitted, job(fmt.Sprintf("w%06d", i), name(i), 0, 1, started(2000+i)))
	}
	list := make([]limits.Event, events)
	for i := range list {
		list[i] = limits.Event{Preemptor: "p", Victim: st.Admitted[i%workloads].ID, At: now.Add(-time.Duration(events-1-i) * every),
			Class: limits.Class{PreemptingQueue: name(i / queues), PreemptedQueue: name(i)}}
	}
	r = pending("q0000", 1, 3)
	r.History, _ = limits.NewHistory(list)
	return st, r
}

// RetryAt is exact with many events in the window: only an instant at which somebody whom a limit refused
// is refused no more is tried.
func TestManyEventsInTheWindow(t *testing.T) {
	day := quota.Some(24 * time.Hour)
	all := &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "number", Operator: workload.Exists}}}
	byRules := []rules.Config{{Name: "config", Rules: []rules.Rule{{Name: "any", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always},
		CandidateSelectors: []rules.CandidateSelector{{Scope: rules.WithinClusterQueue}}}}}}
	for _, c := range []struct {
		about             string
		queues, workloads int
		limit             limits.Limit
		left              int // events of all that are left in the window at RetryAt
	}{
		{"ten queues", 10, 100, limits.Limit{Scope: limits.Global, Limit: 10}, 7},
		{"most may stay", 10, 100, limits.Limit{Scope: limits.Global, Limit: 450}, 447},
		{"a thousand workloads", 1, 1000, limits.Limit{Scope: limits.Global, Limit: 20}, 17},
		{"of a queue that preempts", 10, 100, limits.Limit{Scope: limits.PreemptingClusterQueue, Limit: 10}, 97},
		{"of a queue that is preempted", 10, 100, limits.Limit{Scope: limits.PreemptedClusterQueue, Limit: 10}, 79},
		{"of a workload", 10, 100, limits.Limit{Scope: limits.PreemptedWorkload, Limit: 2}, 179},
		{"with a selector", 10, 100, limits.Limit{Scope: limits.Global, Limit: 10, PreemptedQueues: all}, 7},
		{"with selectors", 10, 100, limits.Limit{Scope: limits.Global, Limit: 10, PreemptedQueues: all, PreemptingQueues: all}, 7},
	} {
		c.limit.Name, c.limit.Window = "l", day
		st, r := manyEvents(c.queues, c.workloads, 500, time.Second)
		want := now.Add(24*time.Hour - time.Duration(c.left)*time.Second)
		for _, about := range []string{"in order", "exact", "by rules"} {
			config := preemption.Config{Limits: []limits.Limit{c.limit}}
			switch about {
			case "exact":
				config.Search = preemption.Exact
			case "by rules": // the last one: it changes the state
				st.Rules, st.Queues[0].Rules, config.RulesAlone = byRules, "config", true
			}
			s, p := snapshotOf(t, st), preemptorOf(config)
			d, err := p.Decide(s, r)
			if err != nil || d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
				t.Errorf("%s %s: %v until %v, %v, want %v", c.about, about, d.Outcome, d.RetryAt.Sub(now), err, want.Sub(now))
			}
			config.MaxRetrySteps = 1
			if d := decideWith(t, config, s, r); !d.RetryAt.After(now) || d.RetryAt.After(want) {
				t.Errorf("%s %s: until %v after few steps, want at most %v", c.about, about, d.RetryAt.Sub(now), want.Sub(now))
			}
		}
	}
}
