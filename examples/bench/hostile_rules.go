package main

import (
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// shapesOfRules are states in which rules, limits, guards and rooms say who may yield.
func shapesOfRules() []shape {
	return []shape{
		{"rules-by-share", func(n int) asked {
			return shared(n/100, n).with(ruled(rules.Config{Ordering: []rules.Ordering{{Key: rules.ByQueueShare, Direction: rules.Descending}},
				Rules: []rules.Rule{rule(0, rules.CandidateSelector{Scope: rules.WithinCohortTree, Quota: rules.DRSLessThanOrEqualToFinalShare})}}))
		}},
		{"rules-by-final-share", func(n int) asked {
			return shared(n/100, n).with(ruled(rules.Config{
				Ordering: []rules.Ordering{{Key: rules.ByFinalShare, Direction: rules.Descending}, {Key: rules.ByInitialShare}, {Key: rules.ByCost}},
				Rules:    []rules.Rule{rule(0, rules.CandidateSelector{Scope: rules.WithinCohortTree, Quota: rules.DRSAllStrategies})},
			}))
		}},
		{"rules-64-limits-64", func(n int) asked { return manyRules(n) }},
		{"limits-full-by-workload", func(n int) asked {
			return lent(n/100, n).with(limited(n, limits.Limit{Name: "l", Scope: limits.PreemptedWorkload, Limit: 1, Window: quota.Some(longest)}))
		}},
		{"limits-full-by-queue", func(n int) asked {
			return lent(n/100, n).with(limited(n, limits.Limit{Name: "l", Scope: limits.PreemptedClusterQueue, Limit: 100, Window: quota.Some(longest)}))
		}},
		{"limits-of-shares", func(n int) asked {
			return shared(n/100, n).with(limited(n, limits.Limit{Name: "l", Scope: limits.PreemptedClusterQueue, Limit: 150, Window: quota.Some(longest)}))
		}},
		{"guard-own-times", func(n int) asked {
			return shared(n/100, n).with(func(q *question) { q.config.Guards = []preemption.Guard{ownTimes{}} })
		}},
		{"own-runtimes", func(n int) asked {
			return shared(n/10, n).queues(func(i int, of *queue.Queue) {
				of.MinRuntime.Preempt = quota.Some(longest - time.Duration(i)*time.Second)
				of.MinRuntime.Reclaim = of.MinRuntime.Preempt
			})
		}},
		{"room-never", func(n int) asked { return lent(n/100, n).with(roomOf(n + 1)) }},
		{"room-of-all", func(n int) asked { return lent(n/100, n).with(roomOf(n)) }},
		{"room-by-share", func(n int) asked { return shared(n/100, n).with(roomOf(n/2 + n/8)) }},
		{"room-of-nodes", func(n int) asked { return lent(n/100, n).with(roomOfNodes) }},
	}
}

// rule returns a rule that is always looked at.
func rule(i int, s ...rules.CandidateSelector) rules.Rule {
	return rules.Rule{Name: numbered("r", i), ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: s}
}

// ruled gives the first queue rules in the place of its policies.
func ruled(c rules.Config) func(q *question) {
	return func(q *question) {
		c.Name = "rules"
		q.state.Rules, q.state.Queues[0].Rules = []rules.Config{c}, c.Name
		q.state.Queues[0].Preemption = queue.PreemptionPolicy{}
	}
}

// manyRules returns 64 rules, each with a limit, with an event for each ten workloads. Each workload is a candidate by all rules.
func manyRules(n int) *question {
	c := rules.Config{}
	q := lent(n/100, n)
	var events []limits.Event
	for i := range rules.MaxRules {
		c.Rules = append(c.Rules, rule(i, rules.CandidateSelector{Scope: rules.OtherInCohortTree, NumericLabels: []rules.NumericLabel{{Key: numbered("k", i), Fallback: quota.Some[int64](1)}}}))
		q.config.Limits = append(q.config.Limits, limits.Limit{
			Name: numbered("l", i), Scope: limits.Global, Rules: []string{numbered("r", i)}, Limit: int64(n), Window: quota.Some(longest),
		})
	}
	for i := range n / 10 {
		events = append(events, limits.Event{
			Preemptor: numbered("p", i), Victim: numbered("v", i), At: scenario.Now.Add(-time.Duration(i) * time.Second),
			Class: limits.Class{PreemptingQueue: first, PreemptedQueue: numbered("q", 1+i%(n/100)), Config: "rules", Rules: []string{numbered("r", i%rules.MaxRules)}},
		})
	}
	q.request.History, _ = limits.NewHistory(events)
	return q.with(ruled(c))
}

// limited adds a limit, and an event for each workload.
func limited(n int, l limits.Limit) func(q *question) {
	return func(q *question) {
		var events []limits.Event
		for i := range q.state.Admitted {
			w := &q.state.Admitted[i]
			events = append(events, limits.Event{
				Preemptor: "before", Victim: w.ID, At: scenario.Now.Add(-time.Duration(1+i*7919%n) * time.Second),
				Class: limits.Class{PreemptingQueue: first, PreemptedQueue: w.Queue},
			})
		}
		q.config.Limits = []limits.Limit{l}
		q.request.History, _ = limits.NewHistory(events)
	}
}

// ownTimes protects each workload until an instant of its own.
type ownTimes struct{}

func (ownTimes) Verdict(running workload.Workload, _ preemption.Request) preemption.Verdict {
	return preemption.ProtectedUntil(running.ReservedAt.Add(longest))
}

// refuses is a room that has no place until enough workloads are removed.
type refuses struct {
	enough  int
	removed map[string]bool
}

func (r *refuses) Remove(id string)  { r.removed[id] = true }
func (r *refuses) Restore(id string) { delete(r.removed, id) }
func (r *refuses) Fits() bool        { return len(r.removed) >= r.enough }

func roomOf(enough int) func(q *question) {
	return func(q *question) { q.request.Room = &refuses{enough, map[string]bool{}} }
}

// roomOfNodes places half as many pods as there are workloads on nodes of ten pods, which the workloads fill.
func roomOfNodes(q *question) {
	f := fleet(len(q.state.Admitted)/10, 10)
	for i := range f.state.Pods {
		f.state.Pods[i].Group = q.state.Admitted[i].ID
	}
	f.gang(len(q.state.Admitted)/20, 8)
	s, err := placement.NewSnapshot(f.state)
	if err != nil {
		panic(err) // a fault of this program
	}
	var p *placement.Preemptor
	fit, err := p.Fit(s, f.request)
	if err != nil {
		panic(err)
	}
	q.request.Room = fit
}
