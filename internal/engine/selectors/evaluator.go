// Package selectors says which running workloads the selectors of rules accept (KEP-13396).
package selectors

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

// Evaluator says which workloads rules accept, in a fixed configuration of queues. It is immutable: any
// number of goroutines may use one. Make it with [New]; nil and the zero value know no queue.
type Evaluator struct {
	given   []rules.Config // by name
	configs map[string]*config
	places  map[string]place
}

// config is a compiled [rules.Config].
type config struct {
	name     string
	ordering []rules.Ordering
	rules    []compiled
	tiers    [tiers]triggered
	shares   bool // they are compared
	bound    bool // some selector has a constraint on quota
}

const tiers = 3 // one for each trigger

// triggered are the rules with one trigger, and their selectors in order.
type triggered struct {
	rules   []*compiled
	entries []entry
}

// entry is a selector of a tier.
type entry struct {
	rules.Match
	*selector
	rule int // its number in triggered.rules
}

func triggeredOf(list []compiled, trigger rules.Trigger) (of triggered) {
	for i := range list {
		r := &list[i]
		if r.trigger != trigger {
			continue
		}
		for j := range r.selectors {
			of.entries = append(of.entries, entry{rules.Match{Rule: r.index, Selector: j}, &r.selectors[j], len(of.rules)})
		}
		of.rules = append(of.rules, r)
	}
	return of
}

// place is where a queue stands in the cohort tree.
type place struct {
	cohort, root string // empty: the queue is in no cohort
	labels       map[string]string
	rules        *config // nil: the queue refers to none that there is
}

// New compiles configurations, which it copies, for the given queues. It fails with a
// [fault.List] of what [queue.Validate] or [rules.ValidateForm] finds. Other faults of
// configurations do not make it fail: see [rules.Validate] and [Evaluator.Tier].
func New(cohorts []queue.Cohort, queues []queue.Queue, configs []rules.Config) (*Evaluator, error) {
	if err := queue.Validate(cohorts, queues); err != nil {
		return nil, err
	}
	if err := rules.ValidateForm("configs", configs); err != nil {
		return nil, err
	}
	e := &Evaluator{configs: make(map[string]*config, len(configs))}
	for i := range configs {
		e.given = append(e.given, configs[i].Clone())
	}
	slices.SortFunc(e.given, func(a, b rules.Config) int { return cmp.Compare(a.Name, b.Name) })
	for i := range e.given {
		given := &e.given[i]
		c := &config{name: given.Name, ordering: given.Ordering, shares: readsShares(given), rules: make([]compiled, len(given.Rules))}
		for j := range given.Rules {
			c.rules[j] = compile(&given.Rules[j], j, c.name)
		}
		for j, trigger := range rules.Triggers() {
			c.tiers[j] = triggeredOf(c.rules, trigger)
		}
		c.bound = slices.ContainsFunc(c.rules, func(r compiled) bool { return r.bound })
		e.configs[c.name] = c
	}
	e.places = placesOf(cohorts, queues, e.configs)
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
	return &Evaluator{given: e.given, configs: e.configs, places: placesOf(cohorts, queues, e.configs)}, nil
}

func placesOf(cohorts []queue.Cohort, queues []queue.Queue, configs map[string]*config) map[string]place {
	roots, places := rootsOf(cohorts), make(map[string]place, len(queues))
	for i := range queues {
		q := &queues[i]
		places[q.Name] = place{q.Cohort, roots[q.Cohort], maps.Clone(q.Labels), configs[q.Rules]}
	}
	return places
}

// of returns the configuration that a queue refers to; nil: none that there is.
func (e *Evaluator) of(queue string) *config {
	if e == nil {
		return nil
	}
	return e.places[queue].rules
}

// Has reports whether a queue refers to rules that there are.
func (e *Evaluator) Has(queue string) bool { return e.of(queue) != nil }

// ReadsMore reports whether rules of a queue read local queues, the creation or the triggers of a
// preemptor: then two waiting workloads that differ in them are not alike.
func (e *Evaluator) ReadsMore(queue string) bool {
	of := e.of(queue)
	return of != nil && slices.ContainsFunc(of.rules, func(r compiled) bool {
		return slices.ContainsFunc(r.selectors, func(s selector) bool {
			return s.Scope == rules.WithinLocalQueue || r.wait > 0 || s.Time.TimeFromCreationRelation != ""
		})
	})
}

// ReadsShares reports whether rules of a queue compare shares: by a constraint on quota or a key of
// the order.
func (e *Evaluator) ReadsShares(queue string) bool {
	of := e.of(queue)
	return of != nil && of.shares
}

// Constrained reports whether some selector of the rules of a queue has a constraint on quota.
func (e *Evaluator) Constrained(queue string) bool {
	of := e.of(queue)
	return of != nil && of.bound
}

// Ordering returns the order of the rules of a queue; empty: the usual one. It must not be changed.
func (e *Evaluator) Ordering(queue string) []rules.Ordering {
	of := e.of(queue)
	if of == nil {
		return nil
	}
	return of.ordering
}

// Each calls yield with each configuration, by name. They must not be changed.
func (e *Evaluator) Each(yield func(*rules.Config) bool) {
	if e == nil {
		return
	}
	for i := range e.given {
		if !yield(&e.given[i]) {
			return
		}
	}
}

// Configs returns the configurations, by name; callers must not change them.
func (e *Evaluator) Configs() []rules.Config {
	if e == nil {
		return nil
	}
	return e.given
}

// Config returns a copy of the configuration with the name; ok is false if there is none.
func (e *Evaluator) Config(name string) (c rules.Config, ok bool) {
	if e == nil {
		return rules.Config{}, false
	}
	at, ok := slices.BinarySearchFunc(e.given, name, func(c rules.Config, name string) int { return cmp.Compare(c.Name, name) })
	if !ok {
		return rules.Config{}, false
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
