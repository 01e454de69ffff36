package lint

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// What contradicts itself is found though nobody is known; what somebody could meet is not.
func TestContradictions(t *testing.T) {
	is := func(key string, o workload.LabelOperator, values ...string) workload.LabelRequirement {
		return workload.LabelRequirement{Key: key, Operator: o, Values: values}
	}
	labels := func(list ...workload.LabelRequirement) rules.CandidateSelector {
		return rules.CandidateSelector{Scope: rules.AnyClusterQueue, LabelSelector: &workload.LabelSelector{MatchLabels: map[string]string{"team": "vision"}, MatchExpressions: list}}
	}
	n := func(v int64) quota.OptionalInt64 { return quota.Some(v) }
	numbers := func(list ...rules.NumericLabel) rules.CandidateSelector {
		for i := range list {
			list[i].Key = "size"
		}
		return rules.CandidateSelector{Scope: rules.AnyClusterQueue, NumericLabels: list}
	}
	times := func(of rules.Times) rules.CandidateSelector {
		return rules.CandidateSelector{Scope: rules.AnyClusterQueue, Time: of}
	}
	queues := func(scope rules.Scope, team string) rules.CandidateSelector {
		return rules.CandidateSelector{Scope: scope, ClusterQueueSelector: &workload.LabelSelector{MatchLabels: map[string]string{"team": team}}}
	}
	const at = `rule "r", selector 0, permits nobody: `
	for name, c := range map[string]struct {
		selector rules.CandidateSelector
		want     string // empty: nothing is found
	}{
		"a value and another":           {labels(is("team", workload.In, "speech", "text")), at + `its labelSelector contradicts itself about the label "team"`},
		"a value that is out":           {labels(is("team", workload.NotIn, "vision")), at + `its labelSelector contradicts`},
		"a value of none":               {labels(is("team", workload.DoesNotExist)), at + `its labelSelector contradicts`},
		"one of the values":             {labels(is("team", workload.In, "speech", "vision"), is("other", workload.NotIn, "a")), ""},
		"there and not there":           {labels(is("tier", workload.Exists), is("tier", workload.DoesNotExist)), at + `its labelSelector contradicts itself about the label "tier"`},
		"there with another value":      {labels(is("tier", workload.Exists), is("tier", workload.NotIn, "a")), ""},
		"bounds apart":                  {numbers(rules.NumericLabel{MinValue: n(5)}, rules.NumericLabel{MaxValue: n(4)}), at + `what it asks for of the label "size" contradicts itself`},
		"bounds that touch":             {numbers(rules.NumericLabel{MinValue: n(4)}, rules.NumericLabel{MaxValue: n(4)}), ""},
		"who has none is within both":   {numbers(rules.NumericLabel{MinValue: n(5), Fallback: n(9)}, rules.NumericLabel{MaxValue: n(4), Fallback: n(1)}), ""},
		"less and greater":              {numbers(rules.NumericLabel{Comparison: rules.LessThan}, rules.NumericLabel{Comparison: rules.GreaterThanOrEqual}), at + "what it asks for"},
		"equal by both":                 {numbers(rules.NumericLabel{Comparison: rules.LessThanOrEqual}, rules.NumericLabel{Comparison: rules.GreaterThanOrEqual}), ""},
		"below zero":                    {numbers(rules.NumericLabel{MaxValue: n(-1)}), at + `its maxValue of the label "size" is -1`},
		"below zero by the fallback":    {numbers(rules.NumericLabel{MaxValue: n(-1), Fallback: n(-1)}), ""},
		"has run less":                  {times(rules.Times{ExecutionTimeRelation: rules.LessThan}), at + "its executionTimeRelation is LessThan"},
		"has run at most, and some":     {times(rules.Times{ExecutionTimeRelation: rules.LessThanOrEqual, MinExecutionDuration: quota.Some(time.Hour)}), at + "its executionTimeRelation is LessThanOrEqual"},
		"has run more":                  {times(rules.Times{ExecutionTimeRelation: rules.GreaterThan, MinExecutionDuration: quota.Some(time.Hour)}), ""},
		"created later":                 {times(rules.Times{TimeFromCreationRelation: rules.LessThan}), ""},
		"has not run":                   {times(rules.Times{MaxExecutionDuration: quota.Some[time.Duration](0)}), `rule "r", selector 0, permits nobody who has run at all`},
		"queues in the scope":           {queues(rules.OtherInParentCohort, "b"), ""},
		"queues out of the scope":       {queues(rules.WithinClusterQueue, "b"), `the clusterQueueSelector of rule "r", selector 0, selects no queue in its scope WithinClusterQueue`},
		"the own queue among the other": {queues(rules.OtherInCohortTree, "a"), `the clusterQueueSelector of rule "r", selector 0, selects no queue in its scope OtherInCohortTree`},
	} {
		in := clusterOf(t, func(in *Cluster) {
			in.State.Admitted, in.Pending = nil, nil
			in.State.Queues[0].Rules = "c"
			in.State.Queues[0].Labels, in.State.Queues[1].Labels = map[string]string{"team": "a"}, map[string]string{"team": "b"}
			r := rules.Rule{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{c.selector}}
			in.State.Rules = []rules.Config{{Name: "c", Rules: []rules.Rule{r}}}
			in.Pending = []workload.Workload{}
		})
		var want []string
		if c.want != "" {
			want = []string{`rules "c": ` + c.want}
		}
		t.Run(name, func(t *testing.T) { wantFindings(t, in, "rules", want) })
	}
}

// A selector contradicts itself if and only if no labels match it: all of two keys and four values are tried.
func TestContradictorySelectors(t *testing.T) { rapid.Check(t, contradictorySelectors) }

func contradictorySelectors(t *rapid.T) {
	keys, values := rapid.SampledFrom([]string{"a", "b"}), rapid.SampledFrom([]string{"x", "y", "z"})
	var s workload.LabelSelector
	for range rapid.IntRange(0, 2).Draw(t, "labels") {
		if s.MatchLabels == nil {
			s.MatchLabels = map[string]string{}
		}
		s.MatchLabels[keys.Draw(t, "key")] = values.Draw(t, "value")
	}
	for range rapid.IntRange(0, 4).Draw(t, "requirements") {
		r := workload.LabelRequirement{Key: keys.Draw(t, "key"), Operator: rapid.SampledFrom([]workload.LabelOperator{workload.In, workload.NotIn, workload.Exists, workload.DoesNotExist}).Draw(t, "operator")}
		if r.Operator == workload.In || r.Operator == workload.NotIn {
			r.Values = rapid.SliceOfN(values, 1, 3).Draw(t, "values")
		}
		s.MatchExpressions = append(s.MatchExpressions, r)
	}
	matches := false
	for _, a := range []string{"", "x", "y", "z", "other"} {
		for _, b := range []string{"", "x", "y", "z", "other"} {
			labels := map[string]string{"a": a, "b": b}
			for key, value := range labels {
				if value == "" {
					delete(labels, key)
				}
			}
			matches = matches || s.Matches(labels)
		}
	}
	if key, is := contradictory(&s); is == matches {
		t.Errorf("%+v: contradicts itself %v (%q), somebody matches %v", s, is, key, matches)
	}
}

// Whom a rule of the trigger Always permits is gone when a later tier is looked at, unless a limit passed it
// over or a constraint on quota refused it.
func TestRulesAfterAlways(t *testing.T) {
	first := rules.Rule{Name: "first", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{{Scope: rules.WithinCohortTree}}}
	for name, c := range map[string]struct {
		change  func(in *Cluster, first, later *rules.Rule)
		covered bool
	}{
		"of a narrower scope": {func(*Cluster, *rules.Rule, *rules.Rule) {}, true},
		"with a constraint": {func(_ *Cluster, _, later *rules.Rule) {
			later.CandidateSelectors[0].Quota, later.CandidateSelectors[0].Scope = rules.Borrowing, rules.OtherInCohortTree
		}, true},
		"for topology": {func(in *Cluster, _, later *rules.Rule) {
			later.ActivationPolicy.Trigger, in.Topologies = rules.QuotaFeasibleAndInsufficientTopology, map[string]string{"f": "racks"}
		}, true},
		"of a wider scope": {func(_ *Cluster, _, later *rules.Rule) { later.CandidateSelectors[0].Scope = rules.AnyClusterQueue }, false},
		"refused before":   {func(_ *Cluster, first, _ *rules.Rule) { first.CandidateSelectors[0].Quota = rules.Borrowing }, false},
		"after a time": {func(_ *Cluster, first, _ *rules.Rule) {
			first.ActivationPolicy.MinTriggerRequiredDuration = quota.Some(time.Hour)
		}, false},
		"for others": {func(_ *Cluster, first, _ *rules.Rule) { first.PreemptorPriorityClass.NotMatchNames = []string{"low"} }, false},
		"passed over by a limit": {func(in *Cluster, _, _ *rules.Rule) {
			in.Config.Limits = []limits.Limit{{Name: "l", Scope: limits.Global, Limit: 1, Window: quota.Some(time.Hour), Rules: []string{"first"}}}
		}, false},
	} {
		in := clusterOf(t, func(in *Cluster) {
			in.State.Queues[0].Rules = "c"
			both := rules.Config{Name: "c", Rules: []rules.Rule{first, first}}.Clone()
			both.Rules[1].Name, both.Rules[1].ActivationPolicy.Trigger = "later", rules.InsufficientQuota
			both.Rules[1].CandidateSelectors[0].Scope = rules.WithinClusterQueue
			in.State.Rules = []rules.Config{both}
			c.change(in, &both.Rules[0], &both.Rules[1])
		})
		var want []string
		if c.covered {
			want = []string{`rules "c": rule "later" permits nobody whom rule "first" of the trigger Always does not`}
		}
		t.Run(name, func(t *testing.T) { wantFindings(t, in, "rules", want) })
	}
}
