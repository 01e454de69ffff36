package verify

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/queue/rules"
)

// byRules reports whether rules took some victim.
func byRules(d *preemption.Decision) bool {
	return slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return v.Reason == preemption.ConfigurablePreemption })
}

// victimsByRules judges the victims of an answer of which rules took some. Victims of the policies are judged one
// by one: they were taken with all that the policies permit. It returns the victims as parts.
func (j *judge) victimsByRules(faults *fault.List) (parts []reference.Candidate) {
	for i := range j.d.Victims {
		v := &j.d.Victims[i]
		switch {
		case i > 0 && v.Workload <= j.d.Victims[i-1].Workload:
			faults.Add(path(i)+".workload", "%q does not come after %q", v.Workload, j.d.Victims[i-1].Workload)
		case v.Reason == preemption.ConfigurablePreemption:
			parts = append(parts, j.victimOfRules(faults, path(i), v)...)
		case j.Config.RulesAlone:
			faults.Add(path(i)+".reason", "%v of %q, but rules take the place of the policies", v.Reason, v.Workload)
		default:
			parts = append(parts, j.victim(faults, path(i), v, true)...)
		}
	}
	for p, c := range parts {
		if j.Limited(parts[:p], c) {
			faults.Add("decision.victims", "%q is over a limit", c.ID)
		}
	}
	j.Take(parts...)
	defer j.Return(parts...)
	if !j.Fits(true) {
		faults.Add("decision.victims", "without them the request does not fit")
		return parts
	}
	byPolicies := slices.DeleteFunc(slices.Clone(parts), func(c reference.Candidate) bool { return c.OfRules() })
	if c, found := unstableOf(j.Question, byPolicies); j.fair() && found {
		faults.Add("decision.victims", "with the others that policies took %q may take its place back", c.ID)
	}
	left := j.NotAccepted(parts)
	if j.Config.SkipRuleRecheck {
		accepted := func(c reference.Candidate) bool { return !c.IsConstrained() || j.acceptedAtBest(c, parts) }
		left = slices.DeleteFunc(slices.Clone(parts), accepted)
	}
	if len(left) > 0 {
		faults.Add("decision.victims", "there is no order in which the constraints on quota accept %s", names(left))
		return parts
	}
	suffices := func(rest []reference.Candidate) bool {
		return j.Fits(true) && (j.Config.SkipRuleRecheck || len(j.NotAccepted(rest)) == 0)
	}
	for i, c := range parts {
		if j.CanStayByRules(c, without(parts, i)) {
			faults.Add("decision.victims", "%q, or a replica of it, can stay", c.ID)
		} else if !c.Partial() && !c.OfRules() && j.partIsEnough(parts, i, suffices) {
			faults.Add("decision.victims", "%q can stay without its surplus", c.ID)
		}
	}
	return parts
}

// acceptedAtBest reports whether a constraint accepts a victim when all on the preemptor's side is taken, and nothing
// on its own: what was put back may have been taken when the victim was.
func (j *judge) acceptedAtBest(c reference.Candidate, taken []reference.Candidate) bool {
	ours, _ := j.Sides(c)
	var beside []reference.Candidate
	for _, r := range j.Running {
		if r.At.IsUnder(ours) {
			beside = append(beside, reference.Candidate{Running: r, PodSet: -1})
		}
	}
	j.Return(taken...)
	j.Take(beside...)
	defer j.Take(taken...)
	defer j.Return(beside...)
	return j.HoldsStill(c)
}

// victimOfRules judges one victim that rules took.
func (j *judge) victimOfRules(faults *fault.List, at string, v *preemption.Victim) (parts []reference.Candidate) {
	r := j.running(v.Workload, "")
	if r == nil {
		faults.Add(at+".workload", "%q is not admitted", v.Workload)
		return nil
	}
	c := reference.Candidate{Running: r, Cohort: j.Common(r), PodSet: -1, Reason: preemption.ConfigurablePreemption}
	switch cohort := c.CohortName(); {
	case v.Cohort != cohort:
		faults.Add(at+".cohort", "%q of %q, want %q", v.Cohort, v.Workload, cohort)
	case v.Queue != r.At.Name:
		faults.Add(at+".queue", "%q of %q, want %q", v.Queue, v.Workload, r.At.Name)
	case !v.PreemptorQueued.IsZero():
		faults.Add(at+".preemptorQueued", "%v of %q, want none", v.PreemptorQueued, v.Workload)
	}
	units := []*reference.Running{r}
	if len(v.Replicas) > 0 {
		if units = j.leavingOnly(v); units == nil {
			faults.Add(at+".replicas", "rules take %q as a whole", v.Workload)
			return nil
		}
		r = units[0]
	}
	if v.Leaving != r.Evicted {
		faults.Add(at+".leaving", "%t of %q, want %t", v.Leaving, v.Workload, r.Evicted)
	}
	if why := j.KeptFromRules(r); why != "" {
		faults.Add(at, "%s", why)
	}
	if len(v.Rules) == 0 {
		faults.Add(at+".rules", "no rule is named that accepts %q", v.Workload)
	}
	j.allNamed(faults, at, v, r)
	for i := range v.Rules {
		j.rule(faults, fmt.Sprintf("%s.rules[%d]", at, i), v, &v.Rules[i], r, &c)
	}
	for _, c.Running = range units {
		parts = append(parts, c)
	}
	return parts
}

// rule judges one of the rules that are named for a victim, and notes by which constraints it accepts it.
func (j *judge) rule(
	faults *fault.List, at string, v *preemption.Victim, of *preemption.VictimRule, r *reference.Running, c *reference.Candidate,
) {
	config := j.RulesOf()
	if of == &v.Rules[0] && !j.Uses(r, -1) && (j.Request.Room == nil || of.Trigger == rules.InsufficientQuota) {
		faults.Add(at, "%q uses nothing that needs preemption", v.Workload)
	}
	found := slices.IndexFunc(config.Rules, func(r rules.Rule) bool {
		return r.Name == of.Rule && r.ActivationPolicy.Trigger == of.Trigger
	})
	ofTier := of.Trigger == v.Rules[0].Trigger
	if ofTier {
		c.ByRule.Trigger, c.ByRule.Config, c.ByRule.Names = of.Trigger, of.Config, append(c.ByRule.Names, of.Rule)
	}
	if found < 0 || config.Name != of.Config {
		faults.Add(at, "queue %q has no rule %q with the trigger %q", j.Queue.Name, of.Rule, of.Trigger)
		return
	}
	rule := &config.Rules[found]
	if !j.Serves(rule) || len(of.Selectors) == 0 {
		faults.Add(at, "rule %q does not serve the request now", of.Rule)
	}
	for n, selector := range of.Selectors {
		if selector < 0 || selector >= len(rule.CandidateSelectors) || n > 0 && selector <= of.Selectors[n-1] {
			faults.Add(at+".selectors", "%v: want indexes of the selectors of rule %q, rising", of.Selectors, of.Rule)
		}
	}
	for n := range rule.CandidateSelectors {
		s := &rule.CandidateSelectors[n]
		accepts, named := j.Selects(s, r), slices.Contains(of.Selectors, n)
		if accepts && s.Quota != "" && !named {
			continue // the constraint did not hold
		}
		if accepts != named {
			faults.Add(at+".selectors", "%v: selector %d of rule %q accepts %q: %t", of.Selectors, n, of.Rule, v.Workload, accepts)
		}
		if named && ofTier {
			c.ByRule.Free = c.ByRule.Free || s.Quota == ""
			c.ByRule.Bound = append(c.ByRule.Bound, reference.Parts(s.Quota)...)
		}
	}
}

// allNamed finds rules, of the tier that took a victim and of later ones, that accept it whatever constraints on
// quota say and are not named; and named rules that are not in the order of the tiers.
func (j *judge) allNamed(faults *fault.List, at string, v *preemption.Victim, r *reference.Running) {
	named, first := 0, len(v.Rules) == 0 // of the tier, or of one before
	for _, trigger := range rules.Triggers() {
		if first = first || v.Rules[0].Trigger == trigger; !first || len(j.BadSelectors(trigger)) > 0 {
			continue
		}
		for i := range j.RulesOf().Rules {
			rule := &j.RulesOf().Rules[i]
			free := func(s rules.CandidateSelector) bool { return s.Quota == "" && j.Selects(&s, r) }
			switch {
			case rule.ActivationPolicy.Trigger != trigger:
			case named < len(v.Rules) && v.Rules[named].Rule == rule.Name:
				named++
			case j.Serves(rule) && slices.ContainsFunc(rule.CandidateSelectors, free):
				faults.Add(at+".rules", "rule %q accepts %q and is not named", rule.Name, v.Workload)
			}
		}
	}
	if named < len(v.Rules) {
		faults.Add(at+".rules", "%q is not in its place", v.Rules[named].Rule)
	}
}
