package twin

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// hasRules reports whether the preemptor's queue refers to rules that there are.
func (d *decision) hasRules() bool {
	name := d.queues[d.queue.name].Rules
	return slices.ContainsFunc(d.configs, func(c rules.Config) bool { return c.Name == name })
}

// byRules answers by the rules of the preemptor's queue, after the policies' answer. Of the rules'
// own evaluation only whom a selector accepts is asked.
func (d *decision) byRules(policies Answer) Answer {
	overPotential := slices.ContainsFunc(d.asked, func(a quota.Amount) bool { return a.Amount > d.potential(d.queue, a.FlavorResource()) })
	d.setGone(nil)
	if overPotential {
		if d.config.RulesAlone {
			policies.Shortage, policies.NoRoom = d.shortages(), false
		}
		return policies
	}
	e, err := rules.New(slices.Collect(maps.Values(d.cohorts)), slices.Collect(maps.Values(d.queues)), d.configs)
	if err != nil {
		return policies // never: the state is valid
	}
	var taken []candidate
	if !d.config.RulesAlone {
		d.largestFirst = false
		attempt := d.attempt
		if d.config.Sharing == preemption.Fair {
			attempt = d.fairAttempt
		}
		attempt(d.candidates(), true)
		taken = d.exhausted
	}
	taken, faults, ok := d.takeByRules(taken, e)
	if !ok {
		for _, f := range faults {
			policies.RuleFaults = append(policies.RuleFaults, f.Error())
		}
		policies.Triggers = d.holding
		if d.setGone(taken); d.config.RulesAlone {
			policies.NoRoom = d.fitsQuota(true)
			for _, reaches := range []func(n, lca, passed node) bool{d.reaches, d.reachesAnything} { // the latter is asked first
				sum := d.sumByRules(e, reaches)
				if d.setGone(sum); !d.fitsQuota(true) {
					taken = sum
				}
			}
			d.setGone(taken)
			policies.Shortage = d.shortages()
		}
		d.setGone(nil)
		return policies
	}
	for before := -1; before != len(taken); { // one that is put back may justify another
		before = len(taken)
		for i := len(taken) - 2; i >= 0; i-- {
			without := slices.Delete(slices.Clone(taken), i, i+1)
			if d.setGone(without); !partOf(without, taken[i]) && d.fits(true) && (d.config.SkipRuleRecheck || d.acceptedInSomeOrder(without, e)) {
				taken = without
			}
		}
	}
	d.setGone(taken)
	found := Answer{Decision: preemption.Decision{Outcome: preemption.Preempt, BorrowHeight: d.borrowHeight(), Victims: d.victims(taken), Triggers: d.holding}, Borrowing: true}
	if d.gated() {
		found.Outcome = preemption.Gated
	}
	for i := range found.Victims {
		v := &found.Victims[i]
		v.Order = i + 1
		at := -1 // the victim as a whole; or the first of what leaves of it
		for n, c := range taken {
			if idOf(c.w.ID) == v.Workload && c.reason == preemption.ConfigurablePreemption && (at < 0 || !leaves(c.w.ID)) {
				at = n
			}
		}
		if at >= 0 { // whatever replicas the policies took of it
			v.Reason, v.Rules, v.PreemptorQueued = preemption.ConfigurablePreemption, d.rulesOf(&taken[at], e), time.Time{}
		}
	}
	slices.SortFunc(found.Victims, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	return found
}

// moment is the time at which the rules of a trigger are asked.
func (d *decision) moment(trigger rules.Trigger) rules.Moment {
	m := rules.Moment{Now: d.request.Now, Since: d.request.Now}
	for _, o := range d.request.TriggersSince {
		if o.Trigger == trigger {
			m.Since = o.Since
		}
	}
	return m
}

// triggers are those of the tiers, in order.
var triggers = []rules.Trigger{"Always", "InsufficientQuota", "QuotaFeasibleAndInsufficientTopology"}

// rulesOf lists the rules that accept a candidate that the tier of a trigger took.
func (d *decision) rulesOf(c *candidate, e *rules.Evaluator) (list []preemption.VictimRule) {
	for _, trigger := range triggers[slices.Index(triggers, c.trigger):] {
		tier, err := e.Tier(trigger, &d.request.Workload)
		if err != nil {
			continue
		}
		moment := d.moment(trigger)
		moment.Quota = c.held
		for _, m := range tier.Select(&c.w, moment) {
			rule := preemption.VictimRule{Config: d.queues[d.queue.name].Rules, Rule: tier.RuleName(m), Trigger: trigger}
			if len(list) == 0 || list[len(list)-1].Rule != rule.Rule || list[len(list)-1].Trigger != trigger {
				list = append(list, rule)
			}
			list[len(list)-1].Selectors = append(list[len(list)-1].Selectors, m.Selector)
		}
	}
	return list
}

// takeByRules takes those whom the rules accept after those taken already, until the request
// fits.
func (d *decision) takeByRules(taken []candidate, e *rules.Evaluator) (all []candidate, faults fault.List, ok bool) {
	for _, trigger := range triggers {
		d.setGone(taken)
		if d.fits(true) {
			return taken, nil, true
		}
		if suffices := d.fitsQuota(true); trigger == "InsufficientQuota" && suffices || trigger == "QuotaFeasibleAndInsufficientTopology" && !suffices {
			continue
		}
		d.holding = append(d.holding, trigger)
		tier, err := e.Tier(trigger, &d.request.Workload)
		if err != nil {
			return taken, err.(fault.List), false
		}
		again := true
		for looks := 0; again && (d.config.MaxRuleLooks == 0 || looks < d.config.MaxRuleLooks); looks++ {
			before, refused := len(taken), false
			list := d.ordered(taken, d.usable(taken, tier, trigger))
			for len(list) > 0 {
				c := candidate{w: list[0].Workload, lca: d.cohortAbove(list[0].Queue), reason: preemption.ConfigurablePreemption, podSet: -1, trigger: trigger}
				list = list[1:]
				c.held = d.quotaHolds(taken, c)
				if !d.acceptsWith(e, &c, c.held) {
					refused = true
					continue
				}
				if c.by = d.rulesOf(&c, e); d.limited(taken, c) {
					refused = true // of rules that may not accept it later
					continue
				}
				taken = append(slices.Clone(taken), c)
				if d.setGone(taken); d.fits(true) {
					return taken, nil, true
				}
				var rest []workload.Workload
				for _, o := range list {
					rest = append(rest, o.Workload)
				}
				list = d.ordered(taken, rest)
			}
			again = refused && len(taken) > before
		}
	}
	return taken, nil, false
}

// usable lists the workloads that a tier accepts whatever constraints on quota say, and that may be
// taken.
func (d *decision) usable(taken []candidate, tier *rules.Tier, trigger rules.Trigger) (list []workload.Workload) {
	moment := d.moment(trigger)
	moment.Quota = rules.AllQuota()
	for _, w := range d.running {
		gone := slices.ContainsFunc(taken, func(c candidate) bool { return c.w.ID == w.ID && c.podSet < 0 })
		usable := uses(&w, d.needed) || d.request.Room != nil && trigger != "InsufficientQuota"
		_, guarded := d.guarded(w)
		until, _, ends := d.minRuntime(&w)
		protected := neverYields(&w) || guarded || ends && !d.request.Now.After(until) || d.queues[w.Queue].Inactive
		if !gone && usable && !protected && len(tier.Select(&w, moment)) > 0 {
			list = append(list, w)
		}
	}
	return list
}

// inOrder is a workload with what keys about shares compare.
type inOrder struct {
	workload.Workload
	share          share
	initial, final bool // the constraint holds
}

// ordered puts workloads in the order in which a tier takes candidates when some are gone.
func (d *decision) ordered(taken []candidate, all []workload.Workload) (list []inOrder) {
	for _, w := range all {
		c := candidate{w: w, lca: d.cohortAbove(w.Queue), podSet: -1}
		o := inOrder{Workload: w}
		o.initial, o.final = d.quotaHolds(taken, c).Meets("DRSLessThanInitialShare"), d.quotaHolds(taken, c).Meets("DRSLessThanOrEqualToFinalShare")
		if c.lca != (node{}) || w.Queue == d.queue.name {
			d.setGone(taken)
			d.added, d.addedTo = d.asked, d.queue.name
			o.share = d.share(node{"queue", w.Queue})
			d.added = nil
		}
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b inOrder) int { return d.orderByRules(&a, &b) })
	return list
}

// orderByRules is the order of the candidates of a tier.
func (d *decision) orderByRules(x, y *inOrder) int {
	a, b := x.Workload, y.Workload
	unknown := func(w *workload.Workload) bool { return w.ReservedAt.IsZero() }
	by := []rules.Ordering(nil)
	for _, c := range d.configs {
		if c.Name == d.queues[d.queue.name].Rules {
			by = c.Ordering
		}
	}
	if a.Evicted == b.Evicted && len(by) > 0 {
		for _, o := range by {
			order := 0
			switch o.Key {
			case "Priority":
				order = cmp.Compare(importance(&a), importance(&b))
			case "AdmissionTimestamp":
				order = cmp.Or(compareBool(unknown(&a), unknown(&b)), a.ReservedAt.Compare(b.ReservedAt))
			case "IsOtherCQ":
				order = compareBool(a.Queue != d.queue.name, b.Queue != d.queue.name)
			case "IsOtherCohort":
				other := func(w *workload.Workload) bool {
					theirs, ours := d.queues[w.Queue].Cohort, d.queues[d.queue.name].Cohort
					return w.Queue != d.queue.name && (theirs == "" || theirs != ours)
				}
				order = compareBool(other(&a), other(&b))
			case "LocalQueueDRS":
				order = cmp.Compare(d.usageOf(&a), d.usageOf(&b))
			case "ClusterQueueDRS":
				order = compareShares(x.share, y.share)
			case "IsDRSLessThanInitialShare":
				order = compareBool(x.initial, y.initial)
			case "IsDRSLessThanOrEqualToFinalShare":
				order = compareBool(x.final, y.final)
			case "Cost":
				order = cmp.Compare(d.costOf(a), d.costOf(b))
			}
			if o.Direction == "Descending" {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID))
	}
	return cmp.Or(
		compareBool(b.Evicted, a.Evicted), compareBool(a.Queue == d.queue.name, b.Queue == d.queue.name),
		cmp.Compare(importance(&a), importance(&b)),
		compareBool(unknown(&b), unknown(&a)), b.ReservedAt.Compare(a.ReservedAt),
		cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID),
	)
}

func (d *decision) usageOf(w *workload.Workload) float64 {
	for _, u := range d.request.LocalQueueUsage {
		if u.LocalQueue == w.LocalQueue {
			return u.Usage
		}
	}
	return 0
}

func (d *decision) costOf(w workload.Workload) int64 {
	if d.config.Cost == nil {
		return 0
	}
	return max(0, d.config.Cost.Lost(d.asGiven(w), "", d.request.Now))
}

// cohortAbove returns the lowest cohort above another queue and the preemptor's.
func (d *decision) cohortAbove(name string) node {
	if name == d.queue.name {
		return node{}
	}
	ours := d.ancestors(d.queue)
	for _, n := range d.ancestors(node{"queue", name}) {
		if slices.Contains(ours, n) {
			return n
		}
	}
	return node{}
}
