package rules

import (
	"slices"
	"strconv"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/optional"
	"github.com/cedesched/cede/workload"
)

// compiled is a rule, ready to be asked often. It shares nothing with the configuration.
type compiled struct {
	index            int
	trigger          Trigger
	preemptorLabels  *workload.LabelSelector
	preemptorClasses classes
	wait             time.Duration // the minimum trigger duration
	selectors        []selector
	bound            bool // some selector has a constraint on quota
	// Faults of the selectors of preemptors and of candidates, with their paths.
	preemptorFaults, candidateFaults fault.List
}

// selector is a compiled [CandidateSelector].
type selector struct {
	scope       Scope
	queueLabels *workload.LabelSelector
	labels      *workload.LabelSelector
	numbers     []NumericLabel
	mode        PriorityMode
	least, most optional.Int64 // priority
	comparison  Comparison
	classes     classes
	times       *Times // nil: all accept
	quota       QuotaConstraint
}

func compile(r *Rule, index int, path string) compiled {
	c := compiled{
		index: index, trigger: r.ActivationPolicy.Trigger, wait: max(0, r.ActivationPolicy.MinTriggerRequiredDuration.Or(0)),
		preemptorLabels: r.PreemptorSelector.Clone(), preemptorClasses: compileClasses(r.PreemptorPriorityClass),
		selectors:       make([]selector, len(r.CandidateSelectors)),
		preemptorFaults: r.preemptorFaults(path), candidateFaults: r.candidateFaults(path),
	}
	for i := range r.CandidateSelectors {
		s := &r.CandidateSelectors[i]
		c.selectors[i] = selector{
			scope: s.Scope, queueLabels: s.ClusterQueueSelector.Clone(), labels: s.LabelSelector.Clone(),
			numbers: slices.Clone(s.NumericLabels), mode: s.Priority.Mode, least: s.Priority.MinValue, most: s.Priority.MaxValue, comparison: s.Priority.Comparison,
			classes: compileClasses(s.Priority.ClassSelector), quota: s.Quota,
		}
		c.bound = c.bound || s.Quota != ""
		if !s.Time.IsZero() {
			times := s.Time
			c.selectors[i].times = &times
		}
	}
	return c
}

// selects reports whether a label selector, which may be absent, selects labels.
func selects(s *workload.LabelSelector, labels map[string]string) bool {
	return s == nil || s.Matches(labels)
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
