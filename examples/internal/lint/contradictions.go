package lint

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// contradictions finds parts of a selector of candidates that nobody can meet, whoever runs.
func (r *reader) contradictions(s *rules.CandidateSelector) {
	for _, of := range [...]struct {
		field    string
		selector *workload.LabelSelector
	}{{"labelSelector", s.LabelSelector}, {"clusterQueueSelector", s.ClusterQueueSelector}} {
		if key, is := contradictory(of.selector); is {
			r.add("", "%s permits nobody: its %s contradicts itself about the label %q", r.place, of.field, key)
		}
	}
	r.numbers(s.NumericLabels)
	for _, f := range never(&s.Time) {
		r.add(f.Example, "%s %s", r.place, f.Problem)
	}
}

// never says why times permit nobody.
func never(t *rules.Times) (list []Finding) {
	add := func(why, format string, args ...any) {
		list = append(list, Finding{Problem: fmt.Sprintf(format, args...), Example: why})
	}
	least, _ := t.MinExecutionDuration.Get()
	const why = "a workload that waits has run for no time"
	switch most, set := t.MaxExecutionDuration.Get(); {
	case t.ExecutionTimeRelation == rules.LessThan:
		add(why, "permits nobody: its executionTimeRelation is LessThan")
	case t.ExecutionTimeRelation == rules.LessThanOrEqual && least > 0:
		add(why, "permits nobody: its executionTimeRelation is LessThanOrEqual, its minExecutionDuration %v", least)
	case set && most == 0:
		add("", "permits nobody who has run at all: its maxExecutionDuration is 0s")
	}
	for _, of := range [...]struct {
		name        string
		least, most quota.OptionalDuration
	}{
		{"ExecutionDuration", t.MinExecutionDuration, t.MaxExecutionDuration},
		{"TimeFromCreationDuration", t.MinTimeFromCreationDuration, t.MaxTimeFromCreationDuration},
	} {
		if most, set := of.most.Get(); set && of.least == of.most {
			add("a minimum holds strictly, a maximum up to its end", "permits nobody at any time: its min%s and max%s are both %v", of.name, of.name, most)
		}
	}
	return list
}

// contradictory returns a label of which a selector asks for two things that exclude each other.
func contradictory(s *workload.LabelSelector) (key string, is bool) {
	if s == nil {
		return "", false
	}
	all := slices.Clone(s.MatchExpressions)
	for key, value := range s.MatchLabels {
		all = append(all, workload.LabelRequirement{Key: key, Operator: workload.In, Values: []string{value}})
	}
	for i := range all {
		// Who meets the requirements of one key has no such label, or one of the values that In lists, or any.
		try := []map[string]string{nil, {all[i].Key: "any\x00"}}
		for j := range all {
			for _, value := range all[j].Values {
				if all[j].Key == all[i].Key && all[j].Operator == workload.In {
					try = append(try, map[string]string{all[i].Key: value})
				}
			}
		}
		meets := func(labels map[string]string) bool {
			return !slices.ContainsFunc(all, func(o workload.LabelRequirement) bool { return o.Key == all[i].Key && !o.Matches(labels) })
		}
		if !slices.ContainsFunc(try, meets) && (!is || all[i].Key < key) {
			key, is = all[i].Key, true
		}
	}
	return key, is
}

// numbers finds bounds of one label that exclude each other, and bounds below zero, which labels are not.
func (r *reader) numbers(list []rules.NumericLabel) {
	opposite := func(a, b rules.Comparison) bool {
		less, greater := a == rules.LessThan || a == rules.LessThanOrEqual, b == rules.GreaterThan || b == rules.GreaterThanOrEqual
		return less && greater && (a == rules.LessThan || b == rules.GreaterThan)
	}
	for i, a := range list {
		fallback, _ := a.Fallback.Get()
		if most, set := a.MaxValue.Get(); set && most < 0 && (a.Fallback == quota.OptionalInt64{} || fallback > most) {
			r.add("a number in a label is not negative", "%s permits nobody: its maxValue of the label %q is %d", r.place, a.Key, most)
		}
		for _, b := range list[:i] {
			if a.Key != b.Key || a.Fallback != b.Fallback { // who has no label may meet both
				continue
			}
			if apart(a, b) || apart(b, a) || opposite(a.Comparison, b.Comparison) || opposite(b.Comparison, a.Comparison) {
				r.add("", "%s permits nobody: what it asks for of the label %q contradicts itself", r.place, a.Key)
			}
		}
	}
}

// apart reports whether the values that the first permits are all above those of the second.
func apart(a, b rules.NumericLabel) bool {
	least, set := a.MinValue.Get()
	return set && least > b.MaxValue.Or(least)
}
