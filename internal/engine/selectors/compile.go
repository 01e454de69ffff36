package selectors

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// compiled is a rule, ready to be asked often. It refers to that of the configuration, which does not
// change.
type compiled struct {
	name             string
	index            int
	trigger          rules.Trigger
	preemptorLabels  *workload.LabelSelector
	preemptorClasses classes
	wait             time.Duration // the minimum trigger duration
	selectors        []selector
	bound            bool // some selector has a constraint on quota
	timed            bool // some selector reads times
	// Faults of the selectors of preemptors and of candidates, with their paths.
	preemptorFaults, candidateFaults fault.List
}

// selector is a compiled [rules.CandidateSelector].
type selector struct {
	*rules.CandidateSelector
	classes classes
	timed   bool // it reads times
}

func compile(r *rules.Rule, index int, config string) compiled {
	c := compiled{
		name: r.Name, index: index, trigger: r.ActivationPolicy.Trigger, wait: max(0, r.ActivationPolicy.MinTriggerRequiredDuration.Or(0)),
		preemptorLabels: r.PreemptorSelector, preemptorClasses: compileClasses(r.PreemptorPriorityClass),
		selectors: make([]selector, len(r.CandidateSelectors)),
	}
	if len(r.PreemptorFaults("")) > 0 || len(r.CandidateFaults("")) > 0 { // building paths costs more than the check
		path := fmt.Sprintf("config %q: rules[%d]", config, index)
		c.preemptorFaults, c.candidateFaults = r.PreemptorFaults(path), r.CandidateFaults(path)
	}
	for i := range r.CandidateSelectors {
		s := &r.CandidateSelectors[i]
		of := selector{CandidateSelector: s, classes: compileClasses(s.Priority.ClassSelector), timed: !s.Time.IsZero()}
		c.selectors[i] = of
		c.bound = c.bound || s.Quota != ""
		c.timed = c.timed || !s.Time.IsZero()
	}
	return c
}

// selects reports whether a label selector, which may be absent, selects labels.
func selects(s *workload.LabelSelector, labels map[string]string) bool {
	return s == nil || s.Matches(labels)
}

// classes is a compiled [rules.ClassSelector]: its lists, sorted.
type classes struct{ match, not []string }

func compileClasses(s rules.ClassSelector) classes {
	return classes{sorted(s.MatchNames), sorted(s.NotMatchNames)}
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return names
}

func (c *classes) matches(name string) bool {
	_, listed := slices.BinarySearch(c.match, name)
	_, excluded := slices.BinarySearch(c.not, name)
	return (len(c.match) == 0 || listed && name != "") && !(excluded && name != "")
}

// number reads a label as a number of 32 bits; the fallback is in place of one that is missing
// or no such number.
func number(of map[string]string, key string, fallback quota.OptionalInt64) (value int64, ok bool) {
	if text, has := of[key]; has {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			return n, true
		}
	}
	return fallback.Get()
}
