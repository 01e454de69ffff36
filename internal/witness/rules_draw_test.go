package witness_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// ruled draws rules for the queue that asks, and what they read: labels, local queues, classes, observations.
type ruled struct{ *rapid.T }

func (t ruled) chance(n, of int) bool { return rapid.IntRange(1, of).Draw(t.T, "chance") > of-n }

func pick[V any](t ruled, label string, from ...V) V { return rapid.SampledFrom(from).Draw(t.T, label) }

func (t ruled) change(q *question) {
	st, r := &q.Record.State, q.Record.Request
	for i := range st.Queues {
		one := &st.Queues[i]
		one.Labels = t.labels()
		if one.Name == r.Workload.Queue || t.chance(1, 4) {
			one.Rules = pick(t, "rules", "mine", "mine", "mine", "mine", "mine", "mine", "mine", "others", "missing")
		}
		if t.chance(1, 2) { // so that policies do not suffice
			one.Preemption = queue.PreemptionPolicy{}
		}
	}
	for i := range st.Admitted {
		t.workload(&st.Admitted[i])
	}
	t.workload(&r.Workload)
	if t.chance(1, 2) { // it counts if the workload holds quota
		r.Workload.ReservedAt = t.instant()
	}
	st.Rules = []rules.Config{t.config("mine"), t.config("others")}
	q.Config.Compat.RulesAlone = t.chance(1, 3)
	q.Config.Cost = pick[preemption.Cost](t, "cost", nil, preemption.CostDeclared{})
	for _, trigger := range rules.Triggers() {
		if t.chance(1, 2) {
			r.TriggersSince = append(r.TriggersSince, rules.Observation{Trigger: trigger, Since: t.instant()})
		}
	}
	for _, name := range []string{"l0", "l1"} {
		if t.chance(1, 4) {
			r.LocalQueueUsage = append(r.LocalQueueUsage, queue.LocalQueueUsage{LocalQueue: name, Usage: pick(t, "usage", 0, 0.5, 1)})
		}
	}
}

// name lets limits name rules, and events, too.
func (t ruled) name(q *question) {
	names := func(of ...string) (list []string) {
		for _, name := range of {
			if t.chance(1, 3) {
				list = append(list, name)
			}
		}
		return list
	}
	for i := range q.Config.Limits {
		l := &q.Config.Limits[i]
		l.Configs, l.Rules = names("mine", "others"), names("r0", "r1", "r2")
		if t.chance(1, 3) {
			l.PreemptedQueues = &workload.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
		}
		if t.chance(1, 6) {
			l.PreemptingQueues = &workload.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
		}
	}
	var events []limits.Event
	for e := range q.Record.Request.History.All {
		if t.chance(2, 3) {
			e.Config, e.Rules = pick(t, "by", "mine", "others"), names("r0", "r1", "r2")
		}
		events = append(events, e)
	}
	history, err := limits.NewHistory(events)
	if err != nil {
		t.Fatal(err)
	}
	q.Record.Request.History = history
}

func (t ruled) instant() time.Time {
	return preemptiontest.Now.Add(-time.Duration(pick(t, "ago", 0, 10, 20, 30, 5)) * time.Minute)
}

func (t ruled) labels() map[string]string {
	labels := map[string]string{}
	if t.chance(2, 3) {
		labels["team"] = pick(t, "team", "a", "b")
	}
	if t.chance(2, 3) {
		labels["size"] = pick(t, "size", "0", "1", "2", "-1", "2147483647", "2147483648", "big")
	}
	return labels
}

func (t ruled) workload(w *workload.Workload) {
	w.Labels, w.LocalQueue, w.PriorityClass = t.labels(), pick(t, "local queue", "", "l0", "l1"), pick(t, "class", "", "high", "low")
	if len(w.PodSets) > 0 && t.chance(1, 4) {
		w.Loss.PerReplica = pick[int64](t, "loss", 1, 2, 5)
	}
}

func (t ruled) config(name string) rules.Config {
	c := rules.Config{Name: name}
	for i := range pick(t, "number of rules", 1, 2, 2, 3, 3, 4, 0) {
		c.Rules = append(c.Rules, t.rule(fmt.Sprintf("r%d", i)))
	}
	if t.chance(1, 2) {
		return c
	}
	keys := rapid.Permutation(rules.OrderingKeys()).Draw(t.T, "keys")
	for _, key := range keys[:pick(t, "number of keys", 1, 2, 3, len(keys))] {
		c.Ordering = append(c.Ordering, rules.Ordering{Key: key, Direction: pick(t, "direction", "", rules.Ascending, rules.Descending)})
	}
	return c
}

func (t ruled) rule(name string) rules.Rule {
	r := rules.Rule{Name: name, ActivationPolicy: rules.ActivationPolicy{Trigger: pick(t, "trigger",
		rules.Always, rules.Always, rules.InsufficientQuota, rules.InsufficientQuota, rules.QuotaFeasibleAndInsufficientTopology)}}
	if t.chance(1, 40) {
		r.ActivationPolicy.Trigger = "Unknown"
	}
	if t.chance(1, 6) {
		r.ActivationPolicy.MinTriggerRequiredDuration = t.minutes()
	}
	if t.chance(1, 10) {
		r.PreemptorSelector = t.selector()
	}
	if t.chance(1, 10) {
		r.PreemptorPriorityClass = t.classes()
	}
	for range pick(t, "number of selectors", 1, 1, 2, 2, 3, 0) {
		r.CandidateSelectors = append(r.CandidateSelectors, t.candidates())
	}
	return r
}

func (t ruled) minutes() quota.OptionalDuration {
	return quota.Some(time.Duration(pick(t, "minutes", 10, 0, 20, 30, 45)) * time.Minute)
}

func (t ruled) selector() *workload.LabelSelector {
	s := &workload.LabelSelector{}
	switch pick(t, "selector", 0, 1, 2, 3) {
	case 0:
		s.MatchLabels = map[string]string{"team": pick(t, "team", "a", "b")}
	case 1:
		s.MatchExpressions = []workload.LabelRequirement{{Key: "team", Operator: pick(t, "operator", workload.In, workload.NotIn), Values: []string{"a"}}}
	case 2:
		s.MatchExpressions = []workload.LabelRequirement{{Key: "size", Operator: pick(t, "operator", workload.Exists, workload.DoesNotExist)}}
	}
	if t.bad() {
		s.MatchExpressions = append(s.MatchExpressions, workload.LabelRequirement{Key: "team", Operator: workload.In})
	}
	return s
}

// bad says that a selector has a fault.
func (t ruled) bad() bool { return t.chance(1, 100) }

func (t ruled) classes() rules.ClassSelector {
	s := rules.ClassSelector{}
	if t.chance(1, 2) {
		s.MatchNames = []string{pick(t, "match", "high", "low")}
	}
	if t.chance(1, 2) {
		s.NotMatchNames = []string{pick(t, "not match", "high", "low")}
	}
	if t.bad() {
		s.MatchNames = append(s.MatchNames, "")
	}
	return s
}

func (t ruled) comparison() rules.Comparison {
	if t.bad() {
		return "Unlike"
	}
	return pick(t, "comparison", rules.LessThan, rules.LessThanOrEqual, rules.GreaterThan, rules.GreaterThanOrEqual)
}

func (t ruled) candidates() rules.CandidateSelector {
	s := rules.CandidateSelector{Scope: rapid.SampledFrom(rules.Scopes()).Draw(t.T, "scope")}
	own := s.Scope == rules.WithinLocalQueue || s.Scope == rules.WithinClusterQueue
	if (!own || t.bad()) && t.chance(2, 5) {
		s.Quota = rapid.SampledFrom(rules.QuotaConstraints()).Draw(t.T, "constraint")
	}
	if t.bad() {
		s.Scope = "Elsewhere"
	}
	if t.chance(1, 2) { // so that many are accepted
		return s
	}
	if t.chance(1, 8) {
		s.ClusterQueueSelector = t.selector()
	}
	if t.chance(1, 8) {
		s.LabelSelector = t.selector()
	}
	if t.chance(1, 6) {
		s.NumericLabels = append(s.NumericLabels, t.number())
	}
	if t.chance(2, 3) {
		s.Priority = t.priority()
	}
	if t.chance(1, 3) {
		s.Time = t.times()
	}
	return s
}

func (t ruled) number() rules.NumericLabel {
	n := rules.NumericLabel{Key: "size"}
	if t.chance(1, 2) {
		n.Fallback = quota.Some(pick[int64](t, "fallback", 0, 1, 2, -1))
	}
	if t.chance(2, 3) {
		n.Comparison = t.comparison()
	}
	if t.chance(1, 3) {
		n.MinValue = quota.Some(pick[int64](t, "at least", -1, 0, 1, 1<<31))
	}
	if t.chance(1, 3) {
		n.MaxValue = quota.Some(pick[int64](t, "at most", 1, 2, 1<<31-1))
	}
	return n
}

func (t ruled) priority() rules.Priority {
	p := rules.Priority{}
	if t.chance(2, 3) || t.bad() {
		p.Mode = pick(t, "mode", rules.Base, rules.Boosted)
	}
	if p.Mode != "" && !t.bad() {
		p.Comparison = t.comparison()
	}
	if t.chance(1, 4) {
		p.MinValue = quota.Some(pick[int64](t, "at least", -1, 0, 1))
	}
	if t.chance(1, 4) {
		p.MaxValue = quota.Some(pick[int64](t, "at most", 0, 1, 2))
	}
	if t.chance(1, 3) {
		p.ClassSelector = t.classes()
	}
	return p
}

func (t ruled) times() (s rules.Times) {
	bound := func() (d quota.OptionalDuration) {
		if t.chance(1, 4) {
			d = t.minutes()
		}
		return d
	}
	s.MinExecutionDuration, s.MaxExecutionDuration = bound(), bound()
	s.MinTimeFromCreationDuration, s.MaxTimeFromCreationDuration = bound(), bound()
	if t.chance(1, 4) {
		s.ExecutionTimeRelation = t.comparison()
	}
	if t.chance(1, 4) {
		s.TimeFromCreationRelation = t.comparison()
	}
	return s
}
