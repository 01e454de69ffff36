package witness

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// KEP-13396, configurable preemption: docs/designs/rules.md, package rules, and [preemption.Preemptor.Decide].

// ruleSearch is what a search by rules has done so far.
type ruleSearch struct {
	*world
	at       time.Time
	victims  []*candidate // of the policies, then of the rules
	enough   bool
	triggers []rules.Trigger // that hold
	faults   []string
}

// rulesOf returns the rules of a queue: "Empty, or a name that no rules have: none."
func rulesOf(st preemption.State, n *node) *rules.Config {
	for i := range st.Rules {
		if n != nil && n.queue.Rules == st.Rules[i].Name {
			return &st.Rules[i]
		}
	}
	return nil
}

// rulesAlone: "RulesAlone makes rules take the place of policies: the policies of a queue that has rules permit
// no victims. Queues without rules go by their policies either way."
func rulesAlone(w *world) bool { return w.config.Compat.RulesAlone && w.rules != nil }

// byRules: "If these permit no victims that help now, by the rules of the preemptor's queue. Rules are looked at in
// the state that the policies leave: all that these permit (of the attempts the one that may borrow) are taken,
// then candidates of the rules, tier by tier, until the request fits. In the end those not needed are put back", and a
// victim stays "if without it another one would no longer be accepted".
func byRules(w *world, at time.Time) *ruleSearch {
	s := &ruleSearch{world: w, at: at}
	if w.rules == nil || w.request.Workload.NeverPreempts || asksTooMuch(w) {
		return s
	}
	s.victims = w.yieldingNow(true, at)
	for _, c := range s.victims {
		c.remove()
	}
	for _, trigger := range rules.Triggers() {
		if !s.enough && len(s.faults) == 0 && s.holds(trigger) {
			s.triggers = append(s.triggers, trigger)
			s.faults = faultsOf(s.world, trigger)
			s.tier(trigger)
		}
	}
	if s.enough {
		s.victims = minimal(s.world, s.victims, func(rest []*candidate) bool { return s.fits(true) && s.acceptedInSomeOrder(rest) })
	}
	restore(s.victims)
	return s
}

// asksTooMuch: there are no triggers "for a request that asks for more than could ever be available".
func asksTooMuch(w *world) bool {
	for fr, amount := range w.asked {
		if amount > w.own.potential(fr) {
			return true
		}
	}
	return false
}

// holds: "Always: the rule is looked at whenever a workload must yield. InsufficientQuota: the quota does not
// suffice without those found so far. QuotaFeasibleAndInsufficientTopology: the quota suffices without those
// found so far, but there is no place."
func (s *ruleSearch) holds(t rules.Trigger) bool {
	switch t {
	case rules.InsufficientQuota:
		return !quotaFits(s.world, true)
	case rules.QuotaFeasibleAndInsufficientTopology:
		return quotaFits(s.world, true) && !s.hasRoom()
	}
	return true
}

// tier takes candidates of the rules with a trigger. "A tier looks again at those whom a constraint refused, or a
// limit where there are constraints, as long as somebody is taken."
func (s *ruleSearch) tier(t rules.Trigger) {
	waiting := s.candidates(t)
	for taken := true; taken && !s.enough; {
		taken = false
		var refused []*candidate
		for len(waiting) > 0 && !s.enough {
			c := s.first(waiting)
			waiting = slices.DeleteFunc(waiting, func(o *candidate) bool { return o == c })
			if s.take(c, t) {
				taken = true
			} else {
				refused = append(refused, c)
			}
		}
		waiting = refused
	}
}

// take removes a candidate if some selector of the tier accepts it now and the limits permit it. Victim.Rules has "the
// rules that accept the victim, tier by tier. The first is of the tier that took it".
func (s *ruleSearch) take(c *candidate, t rules.Trigger) bool {
	c.byRules = s.acceptedBy(c, t, true)
	if len(c.byRules) == 0 || !withinLimits(s.world, c, s.victims, s.at) {
		return false
	}
	for _, later := range rules.Triggers()[slices.Index(rules.Triggers(), t)+1:] {
		c.byRules = append(c.byRules, s.acceptedBy(c, later, true)...)
	}
	c.remove()
	s.victims = append(s.victims, c)
	s.enough = s.fits(true)
	return true
}

// candidates: "Candidates of rules use something that needs preemption; with a Request.Room all are candidates that may
// hold nodes, which InsufficientQuota does not take. They yield as a whole. As everywhere, no workload yields during
// its minimum runtime, against a guard, from an inactive queue, or if it never yields; those that are being evicted
// leave anyway." So do replicas that were told to leave.
func (s *ruleSearch) candidates(t rules.Trigger) (list []*candidate) {
	all := s.request.Room != nil && t != rules.InsufficientQuota
	for _, n := range s.queues {
		for _, r := range n.running {
			for _, c := range r.parts() {
				c.class, c.meet, c.reason = ofOthers, meet(s.own, n), preemption.ConfigurablePreemption
				offered := !c.surplus() && !n.queue.Inactive && !slices.ContainsFunc(s.victims, c.is)
				if offered && (all || c.uses(s.needs)) && len(s.acceptedBy(c, t, false)) > 0 && s.mayYield(c, s.at) {
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// acceptedBy lists the rules with a trigger that accept a candidate, with the selectors that do; constraints on quota
// count if it is to be taken now.
func (s *ruleSearch) acceptedBy(c *candidate, t rules.Trigger, now bool) (list []preemption.VictimRule) {
	if len(faultsOf(s.world, t)) > 0 {
		return nil
	}
	for i := range s.rules.Rules {
		r := &s.rules.Rules[i]
		if r.ActivationPolicy.Trigger != t || !serves(s.world, r) || !longEnough(s.world, r, s.at) {
			continue
		}
		by := preemption.VictimRule{Config: s.rules.Name, Rule: r.Name, Trigger: t}
		for k := range r.CandidateSelectors {
			one := &r.CandidateSelectors[k]
			if accepts(s.world, one, c.of, s.at) && (!now || s.constraintHolds(one.Quota, c)) {
				by.Selectors = append(by.Selectors, k)
			}
		}
		if len(by.Selectors) > 0 {
			list = append(list, by)
		}
	}
	return list
}

// faultsOf lists the bad selectors of a tier, as rules.Validate says them: "One bad selector (of
// preemptor or candidate) of a rule that is looked at: no candidate of this tier and of later tiers. A rule whose
// preemptor selector does not match is passed over before its candidate selectors are looked at."
func faultsOf(w *world, t rules.Trigger) (list []string) {
	for i := range w.rules.Rules {
		r, path := &w.rules.Rules[i], fmt.Sprintf("rules[%d]", i)
		if r.ActivationPolicy.Trigger != t {
			continue
		}
		faults := r.PreemptorFaults(path)
		if len(faults) == 0 && serves(w, r) {
			faults = r.CandidateFaults(path)
		}
		for _, f := range faults {
			list = append(list, fmt.Sprintf("config %q: %s: %s", w.rules.Name, f.Path, f.Problem))
		}
	}
	return list
}
