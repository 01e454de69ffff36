package queues

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// searchByRules makes the documented search by rules, in the state that the policies leave. It
// returns the victims in the order in which they were chosen; nil if there are none. It leaves
// nobody gone, and notes which triggers hold.
func (j *judge) searchByRules() (taken []candidate) {
	j.holding = nil
	over := func(a quota.Amount) bool { return a.Amount > j.queue.potential(a.FlavorResource()) }
	if !j.hasRules() || slices.ContainsFunc(j.asked, over) {
		return nil
	}
	if !j.RulesAlone {
		taken = j.allByPolicies()
	}
	found := j.tiers(&taken)
	for before := -1; found && before != len(taken); { // one that is put back may justify another
		before = len(taken)
		for i := len(taken) - 2; i >= 0; i-- {
			if j.canStayByRules(taken, i) {
				j.take(taken[i], -1)
				taken = slices.Delete(taken, i, i+1)
			}
		}
	}
	j.takeAll(taken, -1)
	if !found {
		return nil
	}
	return taken
}

// hasRules reports whether rules may permit the preemptor anything.
func (j *judge) hasRules() bool { return !j.Workload.NeverPreempts && j.rulesOf() != nil }

// allByPolicies takes all whom the policies permit to a request that may borrow.
func (j *judge) allByPolicies() (taken []candidate) {
	list := j.candidates()
	if j.Fair {
		j.findFirst()
		j.rounds(list, &taken, false)
		return taken
	}
	for _, c := range list {
		if j.mayBeTaken(c, true) && !j.limited(taken, c) {
			j.take(c, 1)
			taken = append(taken, c)
		}
	}
	return taken
}

// canStayByRules reports whether the request fits if one of the victims, all gone, stays, and those that
// need a constraint on quota are still accepted.
func (j *judge) canStayByRules(taken []candidate, i int) bool {
	c := taken[i]
	rest := slices.Delete(slices.Clone(taken), i, i+1)
	if c.goesWhole(rest) {
		return false // its workload goes as a whole
	}
	j.take(c, -1)
	defer j.take(c, 1)
	return j.fits(true) && (j.SkipRuleRecheck || len(j.notAccepted(rest)) == 0)
}

// tiers takes candidates of one trigger after the other until the request fits.
func (j *judge) tiers(taken *[]candidate) bool {
	for _, trigger := range rules.Triggers() {
		if j.fits(true) {
			return true
		}
		if suffices := j.fitsQuota(true); trigger == rules.InsufficientQuota && suffices || trigger == rules.QuotaFeasibleAndInsufficientTopology && !suffices {
			continue
		}
		if j.holding = append(j.holding, trigger); j.isBad(trigger) {
			return false
		}
		for looks, again := 1, true; again; looks++ {
			before, refused := len(*taken), false
			list := j.candidatesOf(trigger)
			for j.sort(list); len(list) > 0; {
				c := list[0]
				list = list[1:]
				if !j.accept(&c, trigger) {
					refused = true
					continue
				}
				if j.limited(*taken, c) {
					refused = true // later fewer rules may accept it
					continue
				}
				j.take(c, 1)
				if *taken = append(*taken, c); j.fits(true) {
					return true
				}
				if slices.ContainsFunc(j.rulesOf().Ordering, func(o rules.Ordering) bool { return o.Key.OfShares() }) {
					j.sort(list)
				}
			}
			again = refused && len(*taken) > before && looks != j.MaxRuleLooks
		}
	}
	return false
}

// isBad reports whether a selector of a tier is bad: of preemptors in any of its rules, of candidates in
// those that serve the preemptor.
func (j *judge) isBad(trigger rules.Trigger) bool {
	return slices.ContainsFunc(j.rulesOf().Rules, func(r rules.Rule) bool {
		faults, _ := rules.Validate([]rules.Config{{Name: "c", Rules: []rules.Rule{r}}}).(fault.List)
		has := func(field string) bool {
			return slices.ContainsFunc(faults, func(f fault.Fault) bool { return strings.HasPrefix(f.Path, "configs[0].rules[0]."+field) })
		}
		return r.ActivationPolicy.Trigger == trigger && (has("preemptor") || j.isFor(&r) && has("candidateSelectors["))
	})
}

// candidatesOf lists the workloads that may yield now and that a tier accepts, whatever constraints on
// quota say.
func (j *judge) candidatesOf(trigger rules.Trigger) (list []candidate) {
	for _, r := range j.running {
		usable := j.uses(r, -1) || j.Room != nil && trigger != rules.InsufficientQuota
		accepts := func(rule rules.Rule) bool {
			return rule.ActivationPolicy.Trigger == trigger && j.serves(&rule) &&
				slices.ContainsFunc(rule.CandidateSelectors, func(s rules.CandidateSelector) bool { return j.selects(&s, r) })
		}
		if usable && !r.whole && r.ID != j.Workload.ID && j.keeps(r) == "" && slices.ContainsFunc(j.rulesOf().Rules, accepts) {
			list = append(list, candidate{running: r, cohort: j.cohortAbove(r), set: -1, reason: ConfigurablePreemption})
		}
	}
	return list
}

// cohortAbove returns the lowest cohort above the queue of a workload and the preemptor's; nil in that
// queue and in other trees.
func (j *judge) cohortAbove(r *running) *node {
	n := r.queue
	for n = n.parent; n != nil && !j.queue.isUnder(n); {
		n = n.parent
	}
	if r.queue == j.queue {
		return nil
	}
	return n
}

// accept reports whether a tier accepts a candidate, by constraints on quota too, with those gone that
// are. It gives the candidate the constraints that hold, and the rules of the tier that accept it.
func (j *judge) accept(c *candidate, trigger rules.Trigger) bool {
	config := j.rulesOf()
	for i := range config.Rules {
		rule := &config.Rules[i]
		if rule.ActivationPolicy.Trigger != trigger || !j.serves(rule) {
			continue
		}
		for k := range rule.CandidateSelectors {
			if s := &rule.CandidateSelectors[k]; j.selects(s, c.running) && j.holds(*c, s.Quota) {
				c.config, c.names = config.Name, append(c.names, rule.Name)
				c.quotas = append(c.quotas, s.Quota)
			}
		}
	}
	return len(c.quotas) > 0
}

// ranked is a candidate with what keys about shares compare.
type ranked struct {
	candidate
	share          quota.Share
	initial, final bool
}

// sort puts candidates in the order of a tier, with those gone that are.
func (j *judge) sort(list []candidate) {
	all := make([]ranked, len(list))
	for i, c := range list {
		all[i] = ranked{candidate: c, initial: j.holds(c, rules.DRSLessThanInitialShare), final: j.holds(c, rules.DRSLessThanOrEqualToFinalShare)}
		if j.ask(1); c.queue.root() == j.queue.root() {
			all[i].share = c.queue.share()
		}
		j.ask(-1)
	}
	slices.SortFunc(all, j.compareByRules)
	for i := range all {
		list[i] = all[i].candidate
	}
}

func (j *judge) compareByRules(a, b ranked) int {
	if order := first(a.Evicted, b.Evicted); order != 0 {
		return order
	}
	by := j.rulesOf().Ordering
	if len(by) == 0 {
		by = []rules.Ordering{{Key: rules.ByOtherQueue, Direction: rules.Descending}, {Key: rules.ByPriority}, {Key: rules.ByAdmission, Direction: rules.Descending}}
	}
	for _, o := range by {
		order := j.compareKey(o.Key, &a, &b)
		if o.Direction == rules.Descending {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID))
}

func (j *judge) compareKey(key rules.OrderingKey, a, b *ranked) int {
	trueLast := func(a, b bool) int { return first(b, a) }
	switch key {
	case rules.ByPriority:
		return cmp.Compare(a.EffectivePriority(), b.EffectivePriority())
	case rules.ByAdmission:
		return cmp.Or(trueLast(a.ReservedAt.IsZero(), b.ReservedAt.IsZero()), a.ReservedAt.Compare(b.ReservedAt))
	case rules.ByOtherQueue:
		return trueLast(a.queue != j.queue, b.queue != j.queue)
	case rules.ByOtherCohort:
		other := func(c *ranked) bool {
			return c.queue != j.queue && (c.queue.parent == nil || c.queue.parent != j.queue.parent)
		}
		return trueLast(other(a), other(b))
	case rules.ByLocalQueue:
		return cmp.Compare(j.LocalQueueUsage[a.LocalQueue], j.LocalQueueUsage[b.LocalQueue])
	case rules.ByQueueShare:
		return a.share.Compare(b.share)
	case rules.ByInitialShare:
		return trueLast(a.initial, b.initial)
	case rules.ByFinalShare:
		return trueLast(a.final, b.final)
	case rules.ByCost:
		if j.Cost != nil {
			return cmp.Compare(max(0, j.Cost(a.Workload, "")), max(0, j.Cost(b.Workload, "")))
		}
	}
	return 0
}
