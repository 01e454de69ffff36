package selectors

import (
	"math/bits"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// Tier holds the selectors of one trigger that serve one preemptor. It is immutable, and so must the
// labels of the preemptor be. The zero value accepts no workload.
type Tier struct {
	evaluator *Evaluator
	config    *config
	of        *triggered
	serves    ruleSet // by number in of.rules: the rule serves the preemptor
	served    int     // the number of selectors of these
	preemptor preemptorView
	place     place
	timed     bool // some selector reads times
}

// ruleSet is a set of rules of a configuration.
type ruleSet uint64

const _ = uint(64 - rules.MaxRules) // they have room in it

func (s ruleSet) has(rule int) bool { return s>>rule&1 != 0 }

// preemptorView is what selectors read of the preemptor.
type preemptorView struct {
	queue, localQueue   string
	labels              map[string]string
	priority, effective int64
	created, reservedAt time.Time
}

// Tier returns the selectors of the rules of the preemptor's queue that have the trigger and
// serve the preemptor. Without such rules it accepts no workload, and so it does if the name in
// [queue.Queue.Rules] is that of no configuration.
//
// A rule whose preemptor selectors do not select the preemptor is passed over before its
// candidate selectors are looked at. It fails with a [fault.List] of the bad selectors (see
// [rules.Validate]) of all rules with the trigger, except candidate selectors of rules that are
// passed over: one bad selector of such a rule leaves the tier without candidates, also those
// of good rules, and no later tier is looked at (Kueue as built). It also fails for an unknown
// queue.
func (e *Evaluator) Tier(trigger rules.Trigger, preemptor *workload.Workload) (*Tier, error) {
	return new(Tier).fill(e, trigger, preemptor) // inlined: a caller that copies it allocates nothing
}

// fill makes a tier of the zero value.
func (t *Tier) fill(e *Evaluator, trigger rules.Trigger, preemptor *workload.Workload) (*Tier, error) {
	var faults fault.List
	if e == nil {
		e = new(Evaluator)
	}
	at, known := e.places[preemptor.Queue]
	if !known {
		faults.Add("preemptor.queue", "%q is unknown", preemptor.Queue)
		return nil, faults
	}
	if at.rules == nil {
		return t, nil
	}
	t.config = at.rules
	n := slices.Index(rules.Triggers(), trigger)
	if n < 0 || len(t.config.tiers[n].rules) == 0 {
		return t, nil
	}
	t.evaluator, t.of, t.place = e, &t.config.tiers[n], at
	t.preemptor = preemptorView{
		preemptor.Queue, preemptor.LocalQueue, preemptor.Labels,
		preemptor.Priority, preemptor.EffectivePriority(), preemptor.Created, preemptor.ReservedAt,
	}
	for i, r := range t.of.rules {
		if len(r.preemptorFaults) > 0 {
			faults = append(faults, r.preemptorFaults...)
			continue
		}
		if !selects(r.preemptorLabels, preemptor.Labels) || !r.preemptorClasses.matches(preemptor.PriorityClass) {
			continue
		}
		faults = append(faults, r.candidateFaults...)
		t.serves |= 1 << i
		t.served += len(r.selectors)
		t.timed = t.timed || r.timed
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// Serves reports whether some selector serves the preemptor. If not, [Tier.Select] accepts
// no workload.
func (t *Tier) Serves() bool { return t.served > 0 }

// Config returns the name of the configuration of the preemptor's queue; empty if it has none.
func (t *Tier) Config() string {
	if t.config == nil {
		return ""
	}
	return t.config.name
}

// RuleName returns the name of the rule of a match.
func (t *Tier) RuleName(m rules.Match) string { return t.config.rules[m.Rule].name }

// Constraint returns the constraint on quota of the selector of a match.
func (t *Tier) Constraint(m rules.Match) rules.QuotaConstraint {
	return t.config.rules[m.Rule].selectors[m.Selector].Quota
}

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
			changes(&s.Time, candidate, &t.preemptor, yield)
		}
		return false
	})
}

// Timed reports whether some selector that serves the preemptor reads times.
func (t *Tier) Timed() bool { return t.timed }

// Waits calls yield with the minimum trigger durations of the rules that serve the preemptor.
func (t *Tier) Waits(yield func(time.Duration)) {
	for r := range t.serving {
		if r.wait > 0 && len(r.selectors) > 0 {
			yield(r.wait)
		}
	}
}

// serving calls yield with the rules that serve the preemptor.
func (t *Tier) serving(yield func(*compiled) bool) {
	for left := t.serves; left != 0; left &= left - 1 {
		if !yield(t.of.rules[bits.TrailingZeros64(uint64(left))]) {
			return
		}
	}
}

// timely reports whether a selector that accepts a candidate at some time does so now, by its
// constraint on quota, too.
func (t *Tier) timely(s *entry, candidate *workload.Workload, m Moment) bool {
	wait := t.of.rules[s.rule].wait
	return (wait == 0 || !m.Since.IsZero() && m.Now.Sub(m.Since) > wait) && (!s.timed || holds(&s.Time, candidate, &t.preemptor, m.Now)) && m.Quota.Meets(s.Quota)
}

// Select returns the selectors that accept a running workload at a moment, in the order of the
// rules; none for one in an unknown queue. That the workload uses something that the preemptor needs
// is not looked at, nor whether it may yield.
func (t *Tier) Select(candidate *workload.Workload, m Moment) []rules.Match {
	return t.AppendSelected(nil, candidate, m)
}

// AppendSelected appends to a list what [Tier.Select] returns.
func (t *Tier) AppendSelected(list []rules.Match, candidate *workload.Workload, m Moment) []rules.Match {
	t.each(candidate, func(s *entry) bool {
		if t.timely(s, candidate, m) {
			list = append(list, s.Match)
		}
		return false
	})
	return list
}

// each calls yield with the selectors that accept a running workload at some time, in the order of the
// rules, until yield returns true.
func (t *Tier) each(candidate *workload.Workload, yield func(*entry) bool) bool {
	if t.served == 0 {
		return false
	}
	at, known := t.placeOf(candidate.Queue)
	if !known {
		return false
	}
	for i := range t.of.entries {
		if s := &t.of.entries[i]; t.serves.has(s.rule) && t.selectsQueue(s, candidate.Queue, &at) && t.accepts(s, candidate) && yield(s) {
			return true
		}
	}
	return false
}

// selectsQueue reports whether a selector accepts workloads of a queue by its scope and the labels of the queue.
func (t *Tier) selectsQueue(s *entry, queue string, at *place) bool {
	return t.reaches(s.Scope, queue, at) && selects(s.ClusterQueueSelector, at.labels)
}

// placeOf returns where a queue stands; known is false if there is no such queue.
func (t *Tier) placeOf(queue string) (at place, known bool) {
	if queue == t.preemptor.queue {
		return t.place, true
	}
	at, known = t.evaluator.places[queue]
	return at, known
}

// reaches reports whether a scope covers workloads of a queue.
func (t *Tier) reaches(s rules.Scope, queue string, at *place) bool {
	own := queue == t.preemptor.queue
	switch s {
	case rules.WithinLocalQueue, rules.WithinClusterQueue:
		return own
	case rules.WithinParentCohort:
		return own || at.cohort != "" && at.cohort == t.place.cohort
	case rules.WithinCohortTree:
		return own || at.root != "" && at.root == t.place.root
	case rules.OtherInParentCohort:
		return !own && at.cohort != "" && at.cohort == t.place.cohort
	case rules.OtherInCohortTree:
		return !own && at.root != "" && at.root == t.place.root
	case rules.OtherClusterQueue:
		return !own
	}
	return s == rules.AnyClusterQueue
}

// accepts reports whether the parts of a selector that read the workload itself accept it.
func (t *Tier) accepts(s *entry, candidate *workload.Workload) bool {
	if s.Scope == rules.WithinLocalQueue && (candidate.LocalQueue == "" || candidate.LocalQueue != t.preemptor.localQueue) {
		return false
	}
	if !selects(s.LabelSelector, candidate.Labels) || !s.classes.matches(candidate.PriorityClass) {
		return false
	}
	priority := candidate.EffectivePriority()
	if s.Priority.Mode == rules.Base {
		priority = candidate.Priority
	}
	if priority < s.Priority.MinValue.Or(priority) || priority > s.Priority.MaxValue.Or(priority) {
		return false
	}
	switch s.Priority.Mode {
	case rules.Base:
		if !s.Priority.Comparison.Holds(candidate.Priority, t.preemptor.priority) {
			return false
		}
	case rules.Boosted:
		if !s.Priority.Comparison.Holds(candidate.EffectivePriority(), t.preemptor.effective) {
			return false
		}
	}
	for i := range s.NumericLabels {
		n := &s.NumericLabels[i]
		value, ok := number(candidate.Labels, n.Key, n.Fallback)
		with := value
		if n.Comparison != "" && ok {
			with, ok = number(t.preemptor.labels, n.Key, n.Fallback)
		}
		if !ok || !n.Comparison.Holds(value, with) || value < n.MinValue.Or(value) || value > n.MaxValue.Or(value) {
			return false
		}
	}
	return true
}
