package rules

import (
	"maps"
	"slices"
	"strconv"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/optional"
	"github.com/cedesched/cede/workload"
)

// compiled is a rule, ready to be asked often. It shares nothing with the configuration.
type compiled struct {
	index            int
	trigger          Trigger
	preemptorLabels  labels
	preemptorClasses classes
	selectors        []selector
	// Faults of the selectors of preemptors and of candidates, with their paths.
	preemptorFaults, candidateFaults fault.List
}

// selector is a compiled [CandidateSelector].
type selector struct {
	scope       Scope
	queueLabels labels
	labels      labels
	numbers     []NumericLabel
	mode        PriorityMode
	comparison  Comparison
	classes     classes
}

func compile(r *Rule, index int, path string) compiled {
	c := compiled{
		index: index, trigger: r.ActivationPolicy.Trigger,
		preemptorLabels: compileLabels(r.PreemptorSelector), preemptorClasses: compileClasses(r.PreemptorPriorityClass),
		selectors:       make([]selector, len(r.CandidateSelectors)),
		preemptorFaults: r.preemptorFaults(path), candidateFaults: r.candidateFaults(path),
	}
	for i := range r.CandidateSelectors {
		s := &r.CandidateSelectors[i]
		c.selectors[i] = selector{
			scope: s.Scope, queueLabels: compileLabels(s.ClusterQueueSelector), labels: compileLabels(s.LabelSelector),
			numbers: slices.Clone(s.NumericLabels), mode: s.Priority.Mode, comparison: s.Priority.Comparison,
			classes: compileClasses(s.Priority.ClassSelector),
		}
	}
	return c
}

// labels is a compiled label selector: requirements that must all hold. Empty: any labels.
type labels []requirement

// requirement is one on a label. The values are sorted.
type requirement struct {
	key      string
	operator workload.LabelOperator
	values   []string
}

func compileLabels(s *workload.LabelSelector) (l labels) {
	if s == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		l = append(l, requirement{key, workload.In, []string{s.MatchLabels[key]}})
	}
	for i := range s.MatchExpressions {
		r := &s.MatchExpressions[i]
		l = append(l, requirement{r.Key, r.Operator, slices.Sorted(slices.Values(r.Values))})
	}
	return l
}

func (l labels) match(of map[string]string) bool {
	for i := range l {
		r := &l[i]
		value, has := of[r.key]
		holds := has == (r.operator == workload.Exists)
		if r.operator == workload.In || r.operator == workload.NotIn {
			_, listed := slices.BinarySearch(r.values, value)
			holds = (has && listed) == (r.operator == workload.In)
		}
		if !holds {
			return false
		}
	}
	return true
}

// classes is a compiled [ClassSelector]: its lists, sorted.
type classes struct{ match, not []string }

func compileClasses(s ClassSelector) classes {
	return classes{slices.Sorted(slices.Values(s.MatchNames)), slices.Sorted(slices.Values(s.NotMatchNames))}
}

func (c *classes) matches(name string) bool {
	_, listed := slices.BinarySearch(c.match, name)
	_, excluded := slices.BinarySearch(c.not, name)
	return (len(c.match) == 0 || listed && name != "") && !(excluded && name != "")
}

// number reads a label as a number of 32 bits; the fallback is in place of one that is missing
// or no such number.
func number(of map[string]string, key string, fallback optional.Int64) (value int64, ok bool) {
	if text, has := of[key]; has {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			return n, true
		}
	}
	return fallback.Get()
}
