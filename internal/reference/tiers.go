package reference

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// ByRules is what the search by rules comes to.
type ByRules struct {
	Victims []Candidate     // in the order in which they were chosen; nil: none make room
	Holding []rules.Trigger // the triggers that hold
	Faults  fault.List      // of the bad selectors that ended the search
	failed  []Candidate     // what was taken in vain
}

// SearchByRules makes the documented search by rules, in the state that the policies leave.
func (q *ruled) SearchByRules() (b ByRules) {
	over := func(a Amount) bool { return a.Amount > q.Queue.potential(a.Column) }
	if q.RulesOf() == nil || slices.ContainsFunc(q.Asked, over) {
		return b
	}
	var taken []Candidate
	if !q.Config.Compat.RulesAlone {
		taken = q.allByPolicies()
	}
	if fits := q.tiers(&taken, &b); !fits {
		q.Return(taken...)
		b.failed = taken
		return b
	}
	b.Victims = q.spare(taken, q.CanStayByRules)
	q.Return(b.Victims...)
	return b
}

// allByPolicies takes all that the policies permit to a request that may borrow.
func (q *ruled) allByPolicies() (taken []Candidate) {
	list := q.Candidates()
	if q.fair() {
		q.fairAttempt(list, &taken)
	} else {
		q.attempt(list, &taken, true)
	}
	return taken
}

// CanStayByRules reports whether the request fits if one victim stays and the rest goes, and the rest, where it
// needs a constraint on quota, is still accepted. All are taken.
func (q *ruled) CanStayByRules(c Candidate, rest []Candidate) bool {
	if c.GoesWhole(rest) {
		return false
	}
	q.Return(c)
	defer q.Take(c)
	return q.Fits(true) && len(q.NotAccepted(rest)) == 0
}

// tiers takes candidates of one trigger after the other until the request fits.
func (q *ruled) tiers(taken *[]Candidate, b *ByRules) bool {
	for _, trigger := range rules.Triggers() {
		if q.Fits(true) {
			return true
		}
		suffices := q.fitsQuota(true)
		if trigger == rules.InsufficientQuota && suffices || trigger == rules.QuotaFeasibleAndInsufficientTopology && !suffices {
			continue
		}
		b.Holding = append(b.Holding, trigger)
		if b.Faults = q.BadSelectors(trigger); len(b.Faults) > 0 {
			return false
		}
		for again := true; again; {
			before, refused := len(*taken), false
			list := q.candidatesOf(trigger)
			for q.sortByRules(list); len(list) > 0; {
				c := list[0]
				list = list[1:]
				// A candidate that is over a limit may be accepted by fewer rules later.
				if !q.accept(&c, trigger) || q.Limited(*taken, c) {
					refused = true
					continue
				}
				q.Take(c)
				if *taken = append(*taken, c); q.Fits(true) {
					return true
				}
				if slices.ContainsFunc(q.RulesOf().Ordering, func(o rules.Ordering) bool { return o.Key.OfShares() }) {
					q.sortByRules(list)
				}
			}
			again = refused && len(*taken) > before
		}
	}
	return false
}

// BadSelectors returns the faults that leave a tier without candidates: the faults of its selectors of preemptors, and
// of the selectors of candidates in its rules for the preemptor.
func (q *ruled) BadSelectors(trigger rules.Trigger) (faults fault.List) {
	config := q.RulesOf()
	for i := 0; config != nil && i < len(config.Rules); i++ {
		r, path := &config.Rules[i], fmt.Sprintf("config %q: rules[%d]", config.Name, i)
		if r.ActivationPolicy.Trigger != trigger {
			continue
		}
		if bad := r.PreemptorFaults(path); len(bad) > 0 {
			faults = append(faults, bad...)
		} else if q.isFor(r) {
			faults = append(faults, r.CandidateFaults(path)...)
		}
	}
	return faults
}

// KeptFromRules says why a workload yields in no case, whatever rules say; empty if it may.
func (q *ruled) KeptFromRules(r *Running) string {
	switch {
	case neverYields(r):
		return fmt.Sprintf("%q never yields", r.ID)
	case inactive(r.At):
		return fmt.Sprintf("queue %q is inactive", r.At.Name)
	case q.Guarded(r):
		return fmt.Sprintf("a guard protects %q", r.ID)
	case q.underMinimum(r):
		return fmt.Sprintf("the minimum runtime of %q is not over", r.ID)
	}
	return ""
}

// candidatesOf lists the workloads that may yield now and that a tier accepts, whatever constraints on quota say.
func (q *ruled) candidatesOf(trigger rules.Trigger) (list []Candidate) {
	for _, r := range q.Running {
		usable := q.Uses(r, -1) || q.Request.Room != nil && trigger != rules.InsufficientQuota
		if usable && !r.whole && !r.goesAlong() && q.KeptFromRules(r) == "" && len(q.selected(trigger, r, Constraints[:])) > 0 {
			list = append(list, Candidate{Running: r, Cohort: common(q.Queue, r.At), PodSet: -1, Reason: preemption.ConfigurablePreemption})
		}
	}
	return list
}

// match is a selector of a rule.
type match struct {
	rule     *rules.Rule
	selector int
	quota    rules.QuotaConstraint
}

// selected lists the selectors of a tier that accept a workload if certain constraints hold.
func (q *ruled) selected(trigger rules.Trigger, r *Running, held []rules.QuotaConstraint) (list []match) {
	config := q.RulesOf()
	for i := range config.Rules {
		rule := &config.Rules[i]
		if rule.ActivationPolicy.Trigger != trigger || !q.Serves(rule) {
			continue
		}
		for k := range rule.CandidateSelectors {
			if s := &rule.CandidateSelectors[k]; meets(held, s.Quota) && q.Selects(s, r) {
				list = append(list, match{rule, k, s.Quota})
			}
		}
	}
	return list
}

// accept reports whether a tier accepts a candidate after what is taken, and notes how.
func (q *ruled) accept(c *Candidate, trigger rules.Trigger) bool {
	c.ByRule = Acceptance{Trigger: trigger, Config: q.RulesOf().Name, Held: q.holding(*c)}
	for _, m := range q.selected(trigger, c.Running, c.ByRule.Held) {
		c.ByRule.Free = c.ByRule.Free || m.quota == ""
		c.ByRule.Names = append(c.ByRule.Names, m.rule.Name)
		for _, part := range Parts(m.quota) {
			if slices.Contains(c.ByRule.Held, part) {
				c.ByRule.Bound = append(c.ByRule.Bound, part)
			}
		}
	}
	return len(c.ByRule.Names) > 0
}

// RulesThat lists the rules that accept a candidate while the constraints hold that are held, of the tier that took it and
// of later ones.
func (q *ruled) RulesThat(c *Candidate) (list []preemption.VictimRule) {
	triggers := rules.Triggers()
	for _, trigger := range triggers[slices.Index(triggers, c.ByRule.Trigger):] {
		if len(q.BadSelectors(trigger)) > 0 {
			continue
		}
		last := (*rules.Rule)(nil)
		for _, m := range q.selected(trigger, c.Running, c.ByRule.Held) {
			if m.rule != last {
				list = append(list, preemption.VictimRule{Config: c.ByRule.Config, Rule: m.rule.Name, Trigger: trigger})
				last = m.rule
			}
			list[len(list)-1].Selectors = append(list[len(list)-1].Selectors, m.selector)
		}
	}
	return list
}

// ranked is a candidate with what keys about shares compare.
type ranked struct {
	Candidate
	share          Share
	initial, final bool
}

// sortByRules puts candidates in the order of a tier after what is taken.
func (q *ruled) sortByRules(list []Candidate) {
	by := q.RulesOf().Ordering
	if len(by) == 0 {
		by = []rules.Ordering{
			{Key: rules.ByOtherQueue, Direction: rules.Descending}, {Key: rules.ByPriority}, {Key: rules.ByAdmission, Direction: rules.Descending},
		}
	}
	all := make([]ranked, len(list))
	for i, c := range list {
		all[i].Candidate = c
		if slices.ContainsFunc(by, func(o rules.Ordering) bool { return o.Key.OfShares() }) {
			all[i].initial, all[i].final = q.Holds(c, rules.DRSLessThanInitialShare), q.Holds(c, rules.DRSLessThanOrEqualToFinalShare)
			if c.At.root() == q.Queue.root() {
				q.Counted(func() { all[i].share = c.At.Share() })
			}
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		if order := first(a.Evicted, b.Evicted); order != 0 {
			return order
		}
		for _, o := range by {
			order := q.compareKey(o.Key, &a, &b)
			if o.Direction == rules.Descending {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Leaving, b.Leaving))
	})
	for i := range all {
		list[i] = all[i].Candidate
	}
}

func (q *ruled) compareKey(key rules.OrderingKey, a, b *ranked) int {
	trueLast := func(a, b bool) int { return first(b, a) }
	switch key {
	case rules.ByPriority:
		return cmp.Compare(a.EffectivePriority(), b.EffectivePriority())
	case rules.ByAdmission:
		return cmp.Or(trueLast(a.ReservedAt.IsZero(), b.ReservedAt.IsZero()), a.ReservedAt.Compare(b.ReservedAt))
	case rules.ByOtherQueue:
		return trueLast(a.At != q.Queue, b.At != q.Queue)
	case rules.ByOtherCohort:
		other := func(c *ranked) bool { return c.At != q.Queue && (c.At.Parent == nil || c.At.Parent != q.Queue.Parent) }
		return trueLast(other(a), other(b))
	case rules.ByLocalQueue:
		return cmp.Compare(q.localUsage[a.LocalQueue], q.localUsage[b.LocalQueue])
	case rules.ByQueueShare:
		return a.share.Compare(b.share)
	case rules.ByInitialShare:
		return trueLast(a.initial, b.initial)
	case rules.ByFinalShare:
		return trueLast(a.final, b.final)
	case rules.ByCost:
		return cmp.Compare(q.Lost(a.Candidate), q.Lost(b.Candidate))
	}
	return 0
}
