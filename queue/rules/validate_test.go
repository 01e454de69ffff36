package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// All faults are found at once, in the order of the input, each with its path and value.
func TestValidate(t *testing.T) {
	always := rules.ActivationPolicy{Trigger: rules.Always}
	gt := &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "k", Operator: workload.Gt, Values: []string{"1"}}}}
	faulty := []rules.CandidateSelector{
		{Scope: "Everywhere", ClusterQueueSelector: gt, LabelSelector: gt},
		{Scope: rules.AnyClusterQueue, NumericLabels: []rules.NumericLabel{
			{Comparison: "Less", Fallback: quota.Some[int64](1 << 31), MinValue: quota.Some[int64](3), MaxValue: quota.Some[int64](2)},
		}},
		{Scope: rules.AnyClusterQueue, Priority: rules.Priority{Mode: rules.Base, ClassSelector: rules.ClassSelector{MatchNames: []string{"a", ""}}}},
		{Scope: rules.AnyClusterQueue, Priority: rules.Priority{Comparison: rules.LessThan}},
		{Scope: rules.AnyClusterQueue, Priority: rules.Priority{Mode: "Double", Comparison: "Less"}},
		{Scope: rules.AnyClusterQueue, Quota: "DRS"}, {Scope: rules.OtherInCohortTree, Quota: rules.DRSAllStrategies},
		{Scope: rules.WithinLocalQueue, Quota: rules.DRSAllStrategies}, {Scope: rules.WithinClusterQueue, Quota: rules.BorrowingCapacityFromPreemptor},
	}
	err := rules.Validate([]rules.Config{
		{Rules: make([]rules.Rule, 65)[:0]},
		{Name: "x", Rules: []rules.Rule{
			{Name: "Upper", ActivationPolicy: always}, {Name: "-a", ActivationPolicy: always}, {Name: strings.Repeat("a", 64), ActivationPolicy: always},
			{Name: "a-1", ActivationPolicy: always, PreemptorSelector: gt, PreemptorPriorityClass: rules.ClassSelector{NotMatchNames: []string{""}}},
			{Name: "a-1"}, {Name: "full", ActivationPolicy: always, CandidateSelectors: faulty},
		}},
		{Name: "x"},
	})
	var got []string
	for _, f := range err.(fault.List) {
		got = append(got, f.Error())
	}
	want := []string{
		`configs[0].name: is empty`,
		`configs[2].name: "x" is also the name of configs[1]`,
		`configs[1].rules[0].name: "Upper" is no DNS label`,
		`configs[1].rules[1].name: "-a" is no DNS label`,
		`configs[1].rules[2].name: "` + strings.Repeat("a", 64) + `" is no DNS label`,
		`configs[1].rules[3].preemptorSelector.matchExpressions[0].operator: Gt is for nodes alone`,
		`configs[1].rules[3].preemptorPriorityClassSelector.notMatchNames[0]: is empty`,
		`configs[1].rules[4].name: "a-1" is also the name of rules[3]`,
		`configs[1].rules[4].activationPolicy.trigger: "" is none of ["Always" "InsufficientQuota" "QuotaFeasibleAndInsufficientTopology"]`,
		`configs[1].rules[5].candidateSelectors[0].scope: "Everywhere" is none of ["WithinLocalQueue" "WithinClusterQueue" "WithinParentCohort" "WithinCohortTree" "AnyClusterQueue" "OtherInParentCohort" "OtherInCohortTree" "OtherClusterQueue"]`,
		`configs[1].rules[5].candidateSelectors[0].clusterQueueSelector.matchExpressions[0].operator: Gt is for nodes alone`,
		`configs[1].rules[5].candidateSelectors[0].labelSelector.matchExpressions[0].operator: Gt is for nodes alone`,
		`configs[1].rules[5].candidateSelectors[1].numericLabels[0].key: is empty`,
		`configs[1].rules[5].candidateSelectors[1].numericLabels[0].fallbackValue: 2147483648 is not within -2147483648 and 2147483647`,
		`configs[1].rules[5].candidateSelectors[1].numericLabels[0].comparison: "Less" is none of ["LessThan" "LessThanOrEqual" "GreaterThan" "GreaterThanOrEqual"]`,
		`configs[1].rules[5].candidateSelectors[1].numericLabels[0].minValue: 3 is more than the maxValue 2`,
		`configs[1].rules[5].candidateSelectors[2].priority: has mode "Base" and comparison "": both or none`,
		`configs[1].rules[5].candidateSelectors[2].priority.matchNames[1]: is empty`,
		`configs[1].rules[5].candidateSelectors[3].priority: has mode "" and comparison "LessThan": both or none`,
		`configs[1].rules[5].candidateSelectors[4].priority.mode: "Double" is none of ["Base" "Boosted"]`,
		`configs[1].rules[5].candidateSelectors[4].priority.comparison: "Less" is none of ["LessThan" "LessThanOrEqual" "GreaterThan" "GreaterThanOrEqual"]`,
		`configs[1].rules[5].candidateSelectors[5].quota: "DRS" is none of ["BorrowingCapacityFromPreemptor" "DRSLessThanOrEqualToFinalShare" "DRSLessThanInitialShare" "DRSAllStrategies" "Borrowing"]`,
		`configs[1].rules[5].candidateSelectors[7].quota: "DRSAllStrategies" is not for the scope "WithinLocalQueue": it holds for other queues`,
		`configs[1].rules[5].candidateSelectors[8].quota: "BorrowingCapacityFromPreemptor" is not for the scope "WithinClusterQueue": it holds for other queues`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestValidateCounts(t *testing.T) {
	full := rules.Config{Name: "full", Rules: make([]rules.Rule, rules.MaxRules)}
	for i := range full.Rules {
		full.Rules[i] = rules.Rule{
			Name: "r" + strings.Repeat("x", i), ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: make([]rules.CandidateSelector, rules.MaxSelectors),
		}
		full.Rules[i].Name = full.Rules[i].Name[:min(len(full.Rules[i].Name), 63)]
		for j := range full.Rules[i].CandidateSelectors {
			full.Rules[i].CandidateSelectors[j].Scope = rules.AnyClusterQueue
		}
	}
	full.Rules[63].Name = "last"
	if err := rules.Validate([]rules.Config{full}); err != nil {
		t.Fatal(err)
	}
	more := full.Clone()
	more.Rules = append(more.Rules, rules.Rule{Name: "more", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}})
	more.Rules[0].CandidateSelectors = append(more.Rules[0].CandidateSelectors, rules.CandidateSelector{Scope: rules.AnyClusterQueue})
	err := rules.Validate([]rules.Config{more})
	const want = "configs[0].rules: 65: more than 64; configs[0].rules[0].candidateSelectors: 33: more than 32"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if _, err := selectors.New(nil, nil, []rules.Config{more}); err == nil || err.Error() != want {
		t.Errorf("New: %v", err)
	}
	if _, err := selectors.New(nil, nil, []rules.Config{full}); err != nil {
		t.Errorf("New: %v", err)
	}
}

// Long lists are read to their ends.
func TestValidateLongLists(t *testing.T) {
	const n = 20_000
	c := rules.Config{Name: "long", Rules: make([]rules.Rule, n), Ordering: make([]rules.Ordering, n)}
	for i := range c.Rules {
		c.Rules[i] = rules.Rule{Name: fmt.Sprint("r", i), ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}}
		c.Ordering[i].Key = "Age"
	}
	c.Ordering[n-2].Key, c.Ordering[n-1].Key = rules.ByCost, rules.ByCost
	faults := rules.Validate([]rules.Config{c}).(fault.List)
	if want := 1 + n - 2 + 1; len(faults) != want || faults[0].Path != "configs[0].rules" || faults[n-1].Path != fmt.Sprintf("configs[0].ordering[%d].key", n-1) {
		t.Errorf("%d faults, want %d: %.300s", len(faults), want, faults.Error())
	}
}
