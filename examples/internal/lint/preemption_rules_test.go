package lint

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Rules that never apply are found, each by its place; those that apply are not.
func TestPreemptionRules(t *testing.T) {
	always := rules.ActivationPolicy{Trigger: rules.Always}
	team := func(name string) *workload.LabelSelector {
		return &workload.LabelSelector{MatchLabels: map[string]string{"team": name}}
	}
	c := clusterOf(t, func(c *Cluster) {
		c.State.Queues[0].Rules, c.State.Queues[1].Rules = "good", "gone"
		c.State.Queues[1].Labels = map[string]string{"team": "vision"}
		c.State.Admitted[0].Labels = map[string]string{"team": "vision"}
		c.State.Rules = []rules.Config{
			{Name: "good", Rules: []rules.Rule{{Name: "r", ActivationPolicy: always, CandidateSelectors: []rules.CandidateSelector{
				{Scope: rules.AnyClusterQueue, ClusterQueueSelector: team("vision"), LabelSelector: team("vision")},
				{Scope: rules.AnyClusterQueue, ClusterQueueSelector: team("speech"), LabelSelector: team("speech")},
			}}, {Name: "empty", ActivationPolicy: always}}},
			{Name: "unused", Rules: []rules.Rule{{Name: "bad", ActivationPolicy: always, CandidateSelectors: []rules.CandidateSelector{{Scope: "No"}}}}},
		}
	})
	wantFindings(t, c, "rules", []string{
		`queue "b": it refers to the rules "gone", which are not there`,
		`rules "good": rule "empty" has no candidate selector, so that it permits nobody`,
		`rules "good": the clusterQueueSelector of rule "r", selector 1, selects no queue`,
		`rules "good": the labelSelector of rule "r", selector 1, selects nobody who runs or waits`,
		`rules "unused": no queue refers to them`,
		`rules "unused": rules[0].candidateSelectors[0].scope: "No" is none of`,
	})
}

// A bad selector leaves its tier without candidates, and the finding says so; other faults do not.
func TestFaultsOfRules(t *testing.T) {
	good := rules.Rule{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{{Scope: rules.WithinClusterQueue}}}
	for name, c := range map[string]struct {
		change   func(*rules.Config)
		selector bool
	}{
		"scope": {func(c *rules.Config) { c.Rules[0].CandidateSelectors = []rules.CandidateSelector{{Scope: "No"}} }, true},
		"preemptor": {func(c *rules.Config) {
			c.Rules[0].PreemptorSelector = &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "k", Operator: workload.LabelOperator(99)}}}
		}, true},
		"class":               {func(c *rules.Config) { c.Rules[0].PreemptorPriorityClass.MatchNames = []string{""} }, true},
		"two rules of a name": {func(c *rules.Config) { c.Rules = append(c.Rules, good) }, false},
		"a bad name":          {func(c *rules.Config) { c.Rules[0].Name = "R_1" }, false},
		"a bad trigger":       {func(c *rules.Config) { c.Rules[0].ActivationPolicy.Trigger = "Often" }, false},
		"a bad ordering":      {func(c *rules.Config) { c.Ordering = []rules.Ordering{{Key: "Colour"}} }, false},
		"a negative duration": {func(c *rules.Config) {
			c.Rules[0].ActivationPolicy.MinTriggerRequiredDuration = quota.Some(-time.Hour)
		}, false},
		"too many of selectors": {func(c *rules.Config) {
			c.Rules[0].CandidateSelectors = slices.Repeat(good.CandidateSelectors, rules.MaxSelectors+1)
		}, false},
	} {
		config := rules.Config{Name: "c", Rules: []rules.Rule{good}}.Clone()
		c.change(&config)
		in := &Cluster{Now: now}
		in.State.Queues = clusterOf(t, nil).State.Queues
		in.State.Queues[0].Rules, in.State.Rules = "c", []rules.Config{config}
		found, err := Run(in, "rules")
		said := slices.ContainsFunc(found, func(f Finding) bool { return f.Example == "a tier with a bad selector permits nobody" })
		if err != nil || len(found) == 0 || said != c.selector {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

// wantFindings checks what a rule of lint finds; each finding begins as wanted.
func wantFindings(t *testing.T, c *Cluster, rule string, want []string) {
	t.Helper()
	found, err := Run(c, rule)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.Place+": "+f.Problem)
	}
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
}

// Each way in which a rule never applies is found, where it is so and nowhere else. Two queues, "a" with the
// rules and "b", are in one cohort; a workload runs in each, and one waits in "a" with the labels team=vision
// and size=3, the priority class "high" and the priority 5.
func TestRulesThatNeverApply(t *testing.T) {
	selects := func(name string) *workload.LabelSelector {
		return &workload.LabelSelector{MatchLabels: map[string]string{"team": name}}
	}
	size := func(n rules.NumericLabel) rules.CandidateSelector {
		n.Key = "size"
		return rules.CandidateSelector{Scope: rules.AnyClusterQueue, NumericLabels: []rules.NumericLabel{n}}
	}
	priority := func(p rules.Priority) rules.CandidateSelector {
		return rules.CandidateSelector{Scope: rules.AnyClusterQueue, Priority: p}
	}
	classes := func(match, not []string) rules.ClassSelector {
		return rules.ClassSelector{MatchNames: match, NotMatchNames: not}
	}
	alone := func(c *Cluster) { c.State.Queues[0].Cohort = "" }
	for _, c := range []struct {
		name     string
		change   func(*Cluster)
		rule     rules.Rule // a selector of any queue is added if it has none
		selector rules.CandidateSelector
		want     string // empty: nothing is found
	}{
		{"serves somebody", nil, rules.Rule{PreemptorSelector: selects("vision"), PreemptorPriorityClass: classes([]string{"high"}, nil)}, rules.CandidateSelector{}, ""},
		{"serves nobody by label", nil, rules.Rule{PreemptorSelector: selects("speech")}, rules.CandidateSelector{}, `rule "r" serves nobody who runs or waits in the queues that refer to it`},
		{"serves nobody by class", nil, rules.Rule{PreemptorPriorityClass: classes([]string{"low"}, nil)}, rules.CandidateSelector{}, `rule "r" serves nobody who runs or waits`},
		{"serves those of other queues alone", func(c *Cluster) { c.Pending[0].Queue = "b" }, rules.Rule{PreemptorSelector: selects("vision")}, rules.CandidateSelector{}, `rule "r" serves nobody`},
		{"serves a contradiction", nil, rules.Rule{PreemptorPriorityClass: classes([]string{"high"}, []string{"low", "high"})}, rules.CandidateSelector{}, `rule "r": each name in matchNames of the preemptorPriorityClassSelector is in notMatchNames`},
		{"a topology", func(c *Cluster) { c.Topologies = map[string]string{"f": "racks"} }, rules.Rule{ActivationPolicy: rules.ActivationPolicy{Trigger: rules.QuotaFeasibleAndInsufficientTopology}}, rules.CandidateSelector{}, ""},
		{"no topology", func(c *Cluster) { c.Topologies = map[string]string{"g": "racks"} }, rules.Rule{ActivationPolicy: rules.ActivationPolicy{Trigger: rules.QuotaFeasibleAndInsufficientTopology}}, rules.CandidateSelector{}, `the trigger of rule "r" never holds: no flavor`},
		{"topologies not known", nil, rules.Rule{ActivationPolicy: rules.ActivationPolicy{Trigger: rules.QuotaFeasibleAndInsufficientTopology}}, rules.CandidateSelector{}, ""},

		{"no other queue in the cohort", alone, rules.Rule{}, rules.CandidateSelector{Scope: rules.OtherInParentCohort}, `rule "r", selector 0, has the scope OtherInParentCohort, which permits nobody`},
		{"no cohort", alone, rules.Rule{}, rules.CandidateSelector{Scope: rules.WithinParentCohort}, `rule "r", selector 0, has the scope WithinParentCohort, which is the own queue alone`},
		{"no tree", alone, rules.Rule{}, rules.CandidateSelector{Scope: rules.WithinCohortTree}, `rule "r", selector 0, has the scope WithinCohortTree, which is the own queue alone`},
		{"another cohort of the tree", func(c *Cluster) { c.State.Queues[0].Cohort = "root" }, rules.Rule{}, rules.CandidateSelector{Scope: rules.OtherInCohortTree}, ""},
		{"a cohort", nil, rules.Rule{}, rules.CandidateSelector{Scope: rules.OtherInParentCohort, Quota: rules.Borrowing}, ""},
		{"quota in another tree", alone, rules.Rule{}, rules.CandidateSelector{Scope: rules.AnyClusterQueue, Quota: rules.Borrowing}, `rule "r", selector 0, asks for the quota constraint Borrowing, which never holds`},
		{"another queue", alone, rules.Rule{}, rules.CandidateSelector{Scope: rules.OtherClusterQueue}, ""},

		{"a class", nil, rules.Rule{}, priority(rules.Priority{ClassSelector: classes([]string{"high"}, nil)}), ""},
		{"no class", nil, rules.Rule{}, priority(rules.Priority{ClassSelector: classes([]string{"low"}, nil)}), `the priority classes of rule "r", selector 0, are those of nobody`},
		{"a contradiction", nil, rules.Rule{}, priority(rules.Priority{ClassSelector: classes([]string{"high"}, []string{"high"})}), `rule "r", selector 0, permits nobody: each name in matchNames`},
		{"a priority", nil, rules.Rule{}, priority(rules.Priority{MinValue: quota.Some(int64(5))}), ""},
		{"no priority", nil, rules.Rule{}, priority(rules.Priority{MinValue: quota.Some(int64(6))}), `the bounds of priority of rule "r", selector 0, are for nobody`},
		{"no base priority", func(c *Cluster) { c.Pending[0].PriorityBoost = 1 }, rules.Rule{}, priority(rules.Priority{Mode: rules.Base, Comparison: rules.LessThan, MinValue: quota.Some(int64(6))}), `the bounds of priority`},
		{"a boosted priority", func(c *Cluster) { c.Pending[0].PriorityBoost = 1 }, rules.Rule{}, priority(rules.Priority{MinValue: quota.Some(int64(6))}), ""},
		{"a value", nil, rules.Rule{}, size(rules.NumericLabel{MinValue: quota.Some(int64(3)), Comparison: rules.LessThan}), ""},
		{"no value", nil, rules.Rule{}, size(rules.NumericLabel{MinValue: quota.Some(int64(4))}), `rule "r", selector 0, asks for a value of the label "size" that nobody has`},
		{"the fallback", nil, rules.Rule{}, size(rules.NumericLabel{MinValue: quota.Some(int64(4)), Fallback: quota.Some(int64(9))}), ""},
		{"no value to compare with", func(c *Cluster) { c.State.Admitted[1].Labels, c.Pending[0].Labels = c.Pending[0].Labels, nil }, rules.Rule{}, size(rules.NumericLabel{Comparison: rules.LessThan}), `rule "r", selector 0, compares the label "size", which nobody has whom the rule serves`},
		{"a time", nil, rules.Rule{}, rules.CandidateSelector{Scope: rules.AnyClusterQueue, Time: rules.Times{MinExecutionDuration: quota.Some(time.Hour), MaxExecutionDuration: quota.Some(time.Hour + 1)}}, ""},
		{"no time", nil, rules.Rule{}, rules.CandidateSelector{Scope: rules.AnyClusterQueue, Time: rules.Times{MinTimeFromCreationDuration: quota.Some(time.Hour), MaxTimeFromCreationDuration: quota.Some(time.Hour)}}, `rule "r", selector 0, permits nobody at any time: its minTimeFromCreationDuration and maxTimeFromCreationDuration are both 1h0m0s`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := clusterOf(t, func(in *Cluster) {
				in.State.Queues[0].Rules = "c"
				in.Pending[0].Labels, in.Pending[0].PriorityClass = map[string]string{"team": "vision", "size": "3"}, "high"
				if c.change != nil {
					c.change(in)
				}
				if c.rule.Name = "r"; c.rule.ActivationPolicy.Trigger == "" {
					c.rule.ActivationPolicy.Trigger = rules.Always
				}
				if c.selector.Scope == "" {
					c.selector.Scope = rules.AnyClusterQueue
				}
				c.rule.CandidateSelectors = []rules.CandidateSelector{c.selector}
				in.State.Rules = []rules.Config{{Name: "c", Rules: []rules.Rule{c.rule}}}
			})
			var want []string
			if c.want != "" {
				want = []string{`rules "c": ` + c.want}
			}
			wantFindings(t, in, "rules", want)
		})
	}
}

// A rule that permits nobody whom another one of its tier does not is found; of two that are the same, the
// later one. One that is wider in some part is not.
func TestCoveredRules(t *testing.T) {
	hour := quota.Some(time.Hour)
	wide := rules.Rule{Name: "wide", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always, MinTriggerRequiredDuration: hour},
		CandidateSelectors: []rules.CandidateSelector{{Scope: rules.WithinCohortTree, Priority: rules.Priority{Mode: rules.Base, Comparison: rules.LessThan}}}}
	narrow := func(change func(*rules.Rule)) rules.Rule {
		r := rules.Config{Rules: []rules.Rule{wide}}.Clone().Rules[0]
		r.Name = "narrow"
		r.CandidateSelectors[0].Scope = rules.OtherInParentCohort
		r.CandidateSelectors[0].Quota = rules.Borrowing
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		change  func(*rules.Rule)
		covered bool
	}{
		"of a narrower scope": {func(*rules.Rule) {}, true},
		"of a wider scope":    {func(r *rules.Rule) { r.CandidateSelectors[0].Scope = rules.OtherClusterQueue }, false},
		"of another priority": {func(r *rules.Rule) { r.CandidateSelectors[0].Priority.Mode = rules.Boosted }, false},
		"for a class":         {func(r *rules.Rule) { r.PreemptorPriorityClass.NotMatchNames = []string{"low"} }, true},
		"of another trigger":  {func(r *rules.Rule) { r.ActivationPolicy.Trigger = rules.InsufficientQuota }, false},
		"earlier":             {func(r *rules.Rule) { r.ActivationPolicy.MinTriggerRequiredDuration = quota.OptionalDuration{} }, false},
		"with a selector more": {func(r *rules.Rule) {
			r.CandidateSelectors = append(r.CandidateSelectors, rules.CandidateSelector{Scope: rules.WithinLocalQueue})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := clusterOf(t, func(in *Cluster) {
				in.State.Queues[0].Rules = "c"
				in.State.Rules = []rules.Config{{Name: "c", Rules: []rules.Rule{wide, narrow(c.change)}}}
			})
			var want []string
			if c.covered {
				want = []string{`rules "c": rule "narrow" permits nobody whom rule "wide" does not`}
			}
			wantFindings(t, in, "rules", want)
		})
	}
	twice := wide
	twice.Name = "again"
	wantFindings(t, clusterOf(t, func(in *Cluster) {
		in.State.Queues[0].Rules = "c"
		in.State.Rules = []rules.Config{{Name: "c", Rules: []rules.Rule{wide, twice}}, {Name: "none"}}
	}), "rules", []string{`rules "c": rule "again" permits nobody whom rule "wide" does not`, `rules "none": no queue refers to them`, `rules "none": there is no rule in them`})
}
