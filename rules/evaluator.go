package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Evaluator says whom rules accept, in a fixed configuration of queues. It is immutable: any
// number of goroutines may use one. Make it with [New]; nil and the zero value know no queue.
type Evaluator struct {
	given   []Config // by name
	configs map[string]*config
	places  map[string]place
	traits  map[Trait]int32 // that selectors ask for, with their numbers
}

// config is a compiled [Config].
type config struct {
	name     string
	ordering []Ordering
	rules    []compiled
	tiers    [len(triggers)]*index
	shares   bool  // they are compared
	nobody   *Tier // of a trigger that no rule has
}

// place is where a queue stands in the cohort tree.
type place struct {
	cohort, root string // empty: the queue is in no cohort
	labels       map[string]string
	rules        string
}

// New compiles configurations, which it copies, for the given queues. It fails with a
// [fault.List] of everything that [queue.Validate] and [ValidateForm] find. Other faults of
// configurations do not make it fail: see [Validate] and [Evaluator.Tier].
func New(cohorts []queue.Cohort, queues []queue.Queue, configs []Config) (*Evaluator, error) {
	faults := listOf(queue.Validate(cohorts, queues))
	faults = append(faults, listOf(ValidateForm("configs", configs))...)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	e := &Evaluator{configs: make(map[string]*config, len(configs)), traits: map[Trait]int32{}}
	for i := range configs {
		e.given = append(e.given, configs[i].Clone())
	}
	slices.SortFunc(e.given, func(a, b Config) int { return cmp.Compare(a.Name, b.Name) })
	for i := range e.given {
		given := &e.given[i]
		c := &config{name: given.Name, ordering: given.Ordering, shares: readsShares(given), rules: make([]compiled, len(given.Rules))}
		for j := range given.Rules {
			c.rules[j] = compile(&given.Rules[j], j, c.name)
		}
		for j, trigger := range Triggers() {
			c.tiers[j] = newIndex(c.rules, trigger, e.traits)
		}
		c.nobody = &Tier{config: c}
		e.configs[c.name] = c
	}
	e.places = placesOf(cohorts, queues)
	return e, nil
}

// Among returns the evaluator with its configurations for other queues. It fails with what
// [queue.Validate] finds.
func (e *Evaluator) Among(cohorts []queue.Cohort, queues []queue.Queue) (*Evaluator, error) {
	if err := queue.Validate(cohorts, queues); err != nil {
		return nil, err
	}
	if e == nil {
		e = new(Evaluator)
	}
	return &Evaluator{given: e.given, configs: e.configs, traits: e.traits, places: placesOf(cohorts, queues)}, nil
}

func placesOf(cohorts []queue.Cohort, queues []queue.Queue) map[string]place {
	roots, places := rootsOf(cohorts), make(map[string]place, len(queues))
	for i := range queues {
		q := &queues[i]
		places[q.Name] = place{q.Cohort, roots[q.Cohort], maps.Clone(q.Labels), q.Rules}
	}
	return places
}

// Has reports whether a queue refers to rules that there are.
func (e *Evaluator) Has(queue string) bool {
	return e != nil && e.configs[e.places[queue].rules] != nil
}

// ReadsMore reports whether rules of a queue read local queues, the creation or the triggers of a
// preemptor: then two waiting workloads that differ in them are not alike.
func (e *Evaluator) ReadsMore(queue string) bool {
	if !e.Has(queue) {
		return false
	}
	of := e.configs[e.places[queue].rules]
	return slices.ContainsFunc(of.rules, func(r compiled) bool {
		return slices.ContainsFunc(r.selectors, func(s selector) bool {
			return s.Scope == WithinLocalQueue || r.wait > 0 || s.Time.TimeFromCreationRelation != ""
		})
	})
}

// ReadsShares reports whether rules of a queue compare shares: by a constraint on quota or a key of
// the order.
func (e *Evaluator) ReadsShares(queue string) bool {
	return e.Has(queue) && e.configs[e.places[queue].rules].shares
}

// Constrained reports whether some selector of the rules of a queue has a constraint on quota.
func (e *Evaluator) Constrained(queue string) bool {
	return e.Has(queue) && slices.ContainsFunc(e.configs[e.places[queue].rules].rules, func(r compiled) bool { return r.bound })
}

// Ordering returns the order of the rules of a queue; empty: the usual one. It must not be changed.
func (e *Evaluator) Ordering(queue string) []Ordering {
	if !e.Has(queue) {
		return nil
	}
	return e.configs[e.places[queue].rules].ordering
}

// EachOrdering calls yield with the order of each configuration, by name. Orders must not be changed.
func (e *Evaluator) EachOrdering(yield func([]Ordering) bool) {
	if e == nil {
		return
	}
	for i := range e.given {
		if !yield(e.given[i].Ordering) {
			return
		}
	}
}

// Configs returns copies of the configurations, by name.
func (e *Evaluator) Configs() []Config {
	if e == nil || len(e.given) == 0 {
		return nil
	}
	list := make([]Config, len(e.given))
	for i := range list {
		list[i] = e.given[i].Clone()
	}
	return list
}

// Config returns a copy of the configuration with the name; ok is false if there is none.
func (e *Evaluator) Config(name string) (c Config, ok bool) {
	if e == nil {
		return Config{}, false
	}
	at, ok := slices.BinarySearchFunc(e.given, name, func(c Config, name string) int { return cmp.Compare(c.Name, name) })
	if !ok {
		return Config{}, false
	}
	return e.given[at].Clone(), true
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

// Tier holds the selectors of one trigger that serve one preemptor. It is immutable, and so must the
// labels of the preemptor be. The zero value accepts nobody.
type Tier struct {
	evaluator *Evaluator
	config    *config
	index     *index
	serves    []bool            // by number in index.rules: the rule serves the preemptor
	few       [MaxRules]bool    // holds them
	served    int               // the number of selectors of these
	preemptor workload.Workload // without what no selector reads
	place     place
	// Whom the selectors that ask for no trait may accept: by scope, without those that ask for labels
	// of queues, which are in labelled; and in queues other than the preemptor's.
	byScope   [len(scopes)]Reach
	labelled  []*selector
	elsewhere Reach
	timed     bool // some selector reads times
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
	of := e.configs[at.rules]
	n := slices.Index(triggers[:], trigger)
	if of == nil {
		return &Tier{}, nil
	}
	if n < 0 || len(of.tiers[n].rules) == 0 {
		return of.nobody, nil
	}
	t := &Tier{evaluator: e, config: of, index: of.tiers[n], place: at}
	t.preemptor = workload.Workload{
		Queue: preemptor.Queue, LocalQueue: preemptor.LocalQueue, Labels: preemptor.Labels,
		Priority: preemptor.Priority, PriorityBoost: preemptor.PriorityBoost,
		Created: preemptor.Created, ReservedAt: preemptor.ReservedAt,
	}
	t.serves = t.few[:len(t.index.rules)]
	for i, r := range t.index.rules {
		if len(r.preemptorFaults) > 0 {
			faults = append(faults, r.preemptorFaults...)
			continue
		}
		if !selects(r.preemptorLabels, preemptor.Labels) || !r.preemptorClasses.matches(preemptor.PriorityClass) {
			continue
		}
		faults = append(faults, r.candidateFaults...)
		t.serves[i] = true
		t.served += len(r.selectors)
		t.timed = t.timed || r.timed
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	t.sumReach()
	return t, nil
}

// Serves reports whether some selector serves the preemptor. If not, [Tier.Select] accepts
// nobody.
func (t *Tier) Serves() bool { return t.served > 0 }

// Config returns the name of the configuration of the preemptor's queue; empty if it has none.
func (t *Tier) Config() string {
	if t.config == nil {
		return ""
	}
	return t.config.name
}

// RuleName returns the name of the rule of a match.
func (t *Tier) RuleName(m Match) string { return t.config.rules[m.Rule].name }

// Accepts reports whether some selector accepts a running workload; see [Tier.Select].
func (t *Tier) Accepts(candidate *workload.Workload, m Moment) bool {
	return t.each(candidate, func(s *entry) bool { return t.timely(s, candidate, m) })
}

// AcceptsSometime reports whether some selector accepts a running workload at some time,
// whatever constraints on quota say.
func (t *Tier) AcceptsSometime(candidate *workload.Workload) bool {
	return t.each(candidate, func(*entry) bool { return true })
}

// Changes calls yield with the instants at which, by its times, a running workload may begin or
// cease to be accepted.
func (t *Tier) Changes(candidate *workload.Workload, yield func(time.Time)) {
	t.each(candidate, func(s *entry) bool {
		if s.timed {
			s.Time.changes(candidate, &t.preemptor, yield)
		}
		return false
	})
}

// Waits calls yield with the minimum trigger durations of the rules that serve the preemptor.
func (t *Tier) Waits(yield func(time.Duration)) {
	for i, serves := range t.serves {
		if r := t.index.rules[i]; serves && r.wait > 0 && len(r.selectors) > 0 {
			yield(r.wait)
		}
	}
}

// timely reports whether a selector that accepts a candidate at some time does so now, by its
// constraint on quota, too.
func (t *Tier) timely(s *entry, candidate *workload.Workload, m Moment) bool {
	wait := t.index.rules[s.rule].wait
	return (wait == 0 || !m.Since.IsZero() && m.Now.Sub(m.Since) > wait) && (!s.timed || s.Time.holds(candidate, &t.preemptor, m.Now)) && m.Quota.Meets(s.Quota)
}

// Select returns the selectors that accept a running workload at a moment, in the order of the
// rules; none for one in an unknown queue. That the workload uses something that the preemptor needs
// is not looked at, nor whether it may yield.
func (t *Tier) Select(candidate *workload.Workload, m Moment) []Match {
	return t.AppendSelected(nil, candidate, m)
}

// AppendSelected appends to a list what [Tier.Select] returns.
func (t *Tier) AppendSelected(list []Match, candidate *workload.Workload, m Moment) []Match {
	n := len(list)
	t.each(candidate, func(s *entry) bool {
		if t.timely(s, candidate, m) {
			list = append(list, s.Match)
		}
		return false
	})
	heap.Sort(list[n:], func(a, b *Match) bool { return a.Rule < b.Rule || a.Rule == b.Rule && a.Selector < b.Selector })
	return list
}

// each calls yield with the selectors that accept a running workload at some time, in any order,
// until yield returns true.
func (t *Tier) each(candidate *workload.Workload, yield func(*entry) bool) bool {
	if t.served == 0 {
		return false
	}
	at, known := t.evaluator.places[candidate.Queue]
	if !known {
		return false
	}
	return t.index.may(candidate, t.evaluator.traits, func(s *entry) bool {
		return t.serves[s.rule] && t.reaches(s.Scope, candidate.Queue, &at) && selects(s.ClusterQueueSelector, at.labels) && t.accepts(s, candidate) && yield(s)
	})
}

// reaches reports whether a scope covers workloads of a queue.
func (t *Tier) reaches(s Scope, queue string, at *place) bool {
	own := queue == t.preemptor.Queue
	switch s {
	case WithinLocalQueue, WithinClusterQueue:
		return own
	case WithinParentCohort:
		return own || at.cohort != "" && at.cohort == t.place.cohort
	case WithinCohortTree:
		return own || at.root != "" && at.root == t.place.root
	case OtherInParentCohort:
		return !own && at.cohort != "" && at.cohort == t.place.cohort
	case OtherInCohortTree:
		return !own && at.root != "" && at.root == t.place.root
	case OtherClusterQueue:
		return !own
	}
	return s == AnyClusterQueue
}

// accepts reports whether the parts of a selector that read the workload itself accept it.
func (t *Tier) accepts(s *entry, candidate *workload.Workload) bool {
	if s.Scope == WithinLocalQueue && (candidate.LocalQueue == "" || candidate.LocalQueue != t.preemptor.LocalQueue) {
		return false
	}
	if !selects(s.LabelSelector, candidate.Labels) || !s.classes.matches(candidate.PriorityClass) {
		return false
	}
	priority := candidate.EffectivePriority()
	if s.Priority.Mode == Base {
		priority = candidate.Priority
	}
	if priority < s.Priority.MinValue.Or(priority) || priority > s.Priority.MaxValue.Or(priority) {
		return false
	}
	switch s.Priority.Mode {
	case Base:
		if !s.Priority.Comparison.holds(candidate.Priority, t.preemptor.Priority) {
			return false
		}
	case Boosted:
		if !s.Priority.Comparison.holds(candidate.EffectivePriority(), t.preemptor.EffectivePriority()) {
			return false
		}
	}
	for i := range s.NumericLabels {
		n := &s.NumericLabels[i]
		value, ok := number(candidate.Labels, n.Key, n.Fallback)
		with := value
		if n.Comparison != "" && ok {
			with, ok = number(t.preemptor.Labels, n.Key, n.Fallback)
		}
		if !ok || !n.Comparison.holds(value, with) || value < n.MinValue.Or(value) || value > n.MaxValue.Or(value) {
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
