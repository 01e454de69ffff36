package rules

import (
	"fmt"
	"maps"
	"strings"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Evaluator says whom rules accept, in a fixed configuration of queues. It is immutable: any
// number of goroutines may use one. Make it with [New]; nil and the zero value know no queue.
type Evaluator struct {
	configs map[string]*config
	places  map[string]place
}

// config is a compiled [Config].
type config struct {
	name  string
	names []string // of the rules
	rules []compiled
}

// place is where a queue stands in the cohort tree.
type place struct {
	cohort, root string // empty: the queue is in no cohort
	labels       map[string]string
	rules        string
}

// New compiles configurations, which it copies, for the given queues. It fails with a
// [fault.List] of everything that [queue.Validate] finds, and of empty and duplicate names of
// configurations. Other faults of configurations do not make it fail: see [Validate] and
// [Evaluator.Tier].
func New(cohorts []queue.Cohort, queues []queue.Queue, configs []Config) (*Evaluator, error) {
	faults := listOf(queue.Validate(cohorts, queues))
	validateNames(&faults, configs)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	e := &Evaluator{configs: make(map[string]*config, len(configs)), places: make(map[string]place, len(queues))}
	for i := range configs {
		c := &config{name: configs[i].Name}
		for j := range configs[i].Rules {
			r := &configs[i].Rules[j]
			c.names = append(c.names, r.Name)
			c.rules = append(c.rules, compile(r, j, fmt.Sprintf("configs[%d].rules[%d]", i, j)))
		}
		e.configs[c.name] = c
	}
	roots := rootsOf(cohorts)
	for i := range queues {
		q := &queues[i]
		e.places[q.Name] = place{q.Cohort, roots[q.Cohort], maps.Clone(q.Labels), q.Rules}
	}
	return e, nil
}

// rootsOf returns the root above each cohort. The cohorts are no cycle.
func rootsOf(cohorts []queue.Cohort) map[string]string {
	parents, roots := make(map[string]string, len(cohorts)), make(map[string]string, len(cohorts))
	for i := range cohorts {
		parents[cohorts[i].Name] = cohorts[i].Parent
	}
	for i := range cohorts {
		root := cohorts[i].Name
		for roots[root] == "" && parents[root] != "" {
			root = parents[root]
		}
		if known := roots[root]; known != "" {
			root = known
		}
		for at := cohorts[i].Name; at != "" && roots[at] == ""; at = parents[at] {
			roots[at] = root
		}
	}
	return roots
}

// Tier holds the selectors of one trigger that serve one preemptor. It is immutable. The zero
// value accepts nobody.
type Tier struct {
	evaluator *Evaluator
	config    *config
	served    []served
	preemptor workload.Workload // without what no selector reads
	place     place
}

// served is a selector of a rule that serves the preemptor.
type served struct {
	Match
	*selector
	values []int64 // of the preemptor, by numeric label
}

// Match is a selector that accepts a candidate. The zero value is the first selector of the
// first rule.
type Match struct {
	// Rule is the index of the rule in its configuration.
	Rule int `json:"rule"`
	// Selector is the index of the selector in the rule.
	Selector int `json:"selector"`
}

// Tier returns the selectors of the rules of the preemptor's queue that have the trigger and
// serve the preemptor. Without such rules it accepts nobody, and so it does if the name in
// [queue.Queue.Rules] is that of no configuration.
//
// A rule whose preemptor selectors do not select the preemptor is passed over before its
// candidate selectors are looked at. It fails with a [fault.List] of the bad selectors (see
// [Validate]) of all rules with the trigger, except candidate selectors of rules that are
// passed over: one bad selector of such a rule leaves the tier without candidates, also those
// of good rules, and no later tier is looked at (Kueue as built). It also fails for an unknown
// queue.
func (e *Evaluator) Tier(trigger Trigger, preemptor *workload.Workload) (*Tier, error) {
	var faults fault.List
	if e == nil {
		e = new(Evaluator)
	}
	at, known := e.places[preemptor.Queue]
	if !known {
		faults.Add("preemptor.queue", "%q is unknown", preemptor.Queue)
		return nil, faults
	}
	t := &Tier{evaluator: e, config: e.configs[at.rules], place: at}
	t.preemptor = workload.Workload{
		Queue: preemptor.Queue, LocalQueue: preemptor.LocalQueue,
		Priority: preemptor.Priority, PriorityBoost: preemptor.PriorityBoost,
	}
	if t.config == nil {
		return t, nil
	}
	for i := range t.config.rules {
		r := &t.config.rules[i]
		if r.trigger != trigger {
			continue
		}
		if len(r.preemptorFaults) > 0 {
			faults = append(faults, r.preemptorFaults...)
			continue
		}
		if !selects(r.preemptorLabels, preemptor.Labels) || !r.preemptorClasses.matches(preemptor.PriorityClass) {
			continue
		}
		faults = append(faults, r.candidateFaults...)
		for j := range r.selectors {
			t.serve(Match{r.index, j}, &r.selectors[j], preemptor.Labels)
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// serve adds a selector, unless it refuses everybody because the preemptor has no value to
// compare with.
func (t *Tier) serve(m Match, s *selector, labels map[string]string) {
	out := served{m, s, make([]int64, len(s.numbers))}
	for i := range s.numbers {
		n := &s.numbers[i]
		value, ok := number(labels, n.Key, n.Fallback)
		if !ok && n.Comparison != "" {
			return
		}
		out.values[i] = value
	}
	t.served = append(t.served, out)
}

// Serves reports whether some selector serves the preemptor. If not, [Tier.Select] accepts
// nobody.
func (t *Tier) Serves() bool { return len(t.served) > 0 }

// Config returns the name of the configuration of the preemptor's queue; empty if it has none.
func (t *Tier) Config() string {
	if t.config == nil {
		return ""
	}
	return t.config.name
}

// RuleName returns the name of the rule of a match.
func (t *Tier) RuleName(m Match) string { return t.config.names[m.Rule] }

// Select returns the selectors that accept a running workload, in the order of the rules;
// none for one in an unknown queue. That the workload uses something that the preemptor needs
// is not looked at, nor whether it may yield.
func (t *Tier) Select(candidate *workload.Workload) (matches []Match) {
	if len(t.served) == 0 {
		return nil
	}
	at, known := t.evaluator.places[candidate.Queue]
	if !known {
		return nil
	}
	for i := range t.served {
		if s := &t.served[i]; t.covers(s.scope, candidate, &at) && selects(s.queueLabels, at.labels) && t.accepts(s, candidate) {
			matches = append(matches, s.Match)
		}
	}
	return matches
}

// covers reports whether a scope covers the candidate.
func (t *Tier) covers(s Scope, candidate *workload.Workload, at *place) bool {
	own := candidate.Queue == t.preemptor.Queue
	switch s {
	case WithinLocalQueue:
		return own && candidate.LocalQueue != "" && candidate.LocalQueue == t.preemptor.LocalQueue
	case WithinClusterQueue:
		return own
	case WithinParentCohort:
		return own || at.cohort != "" && at.cohort == t.place.cohort
	case WithinCohortTree:
		return own || at.root != "" && at.root == t.place.root
	}
	return s == AnyClusterQueue
}

// accepts reports whether the parts of a selector that read the workload itself accept it.
func (t *Tier) accepts(s *served, candidate *workload.Workload) bool {
	if !selects(s.labels, candidate.Labels) || !s.classes.matches(candidate.PriorityClass) {
		return false
	}
	switch s.mode {
	case Base:
		if !s.comparison.holds(candidate.Priority, t.preemptor.Priority) {
			return false
		}
	case Boosted:
		if !s.comparison.holds(candidate.EffectivePriority(), t.preemptor.EffectivePriority()) {
			return false
		}
	}
	for i := range s.numbers {
		n := &s.numbers[i]
		value, ok := number(candidate.Labels, n.Key, n.Fallback)
		if !ok || !n.Comparison.holds(value, s.values[i]) || value < n.MinValue.Or(value) || value > n.MaxValue.Or(value) {
			return false
		}
	}
	return true
}

// Cause tells by which selectors a candidate is preempted, in Kueue's words: "preemption
// config C rule R1/0,2; R2/1" with the indexes of the selectors. The matches are those of
// Select.
func (t *Tier) Cause(matches []Match) string {
	if t.config == nil || len(matches) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "preemption config %s rule ", t.config.name)
	for i, m := range matches {
		switch {
		case i > 0 && matches[i-1].Rule == m.Rule:
			fmt.Fprintf(&b, ",%d", m.Selector)
			continue
		case i > 0:
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s/%d", t.RuleName(m), m.Selector)
	}
	return b.String()
}
