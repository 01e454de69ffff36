package queues

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/queue/rules"
)

// VictimRule is that of package preemption.
type VictimRule struct {
	Config, Rule string
	Trigger      rules.Trigger
	Selectors    []int
}

// byRules reports whether rules took some victim.
func byRules(a *Answer) bool {
	return slices.ContainsFunc(a.Victims, func(v Victim) bool { return v.Reason == ConfigurablePreemption })
}

// victimsByRules judges the victims of an answer of which rules took some. Those of the policies
// are judged one by one: they were taken with everybody whom the policies permit. It returns the
// victims as parts.
func (j *judge) victimsByRules(faults *fault.List, a *Answer) (parts []candidate) {
	for i := range a.Victims {
		v, at := &a.Victims[i], fmt.Sprintf("decision.victims[%d]", i)
		switch {
		case i > 0 && v.Workload <= a.Victims[i-1].Workload:
			faults.Add(at+".workload", "%q does not come after %q", v.Workload, a.Victims[i-1].Workload)
		case v.Reason == ConfigurablePreemption:
			parts = append(parts, j.victimOfRules(faults, at, v)...)
		case j.RulesAlone:
			faults.Add(at+".reason", "%v of %q, but rules take the place of the policies", v.Reason, v.Workload)
		default:
			parts = append(parts, j.victim(faults, at, v, true)...)
		}
	}
	for p, c := range parts {
		if j.limited(parts[:p], c) {
			faults.Add("decision.victims", "%q is over a limit", c.ID)
		}
	}
	j.takeAll(parts, 1)
	defer j.takeAll(parts, -1)
	if !j.fits(true) {
		faults.Add("decision.victims", "without them the request does not fit")
		return parts
	}
	byPolicies := slices.DeleteFunc(slices.Clone(parts), func(c candidate) bool { return c.reason == ConfigurablePreemption })
	if c, found := j.unstableOf(byPolicies); j.Fair && found {
		faults.Add("decision.victims", "with the others that policies took %q may take its place back", c.ID)
	}
	left := j.notAccepted(parts)
	if j.SkipRuleRecheck {
		left = slices.DeleteFunc(slices.Clone(parts), func(c candidate) bool { return !c.isConstrained() || j.acceptedAtBest(c, parts) })
	}
	if len(left) > 0 {
		faults.Add("decision.victims", "there is no order in which the constraints on quota accept %s", names(left))
		return parts
	}
	for i := range parts {
		if j.canStayByRules(parts, i) {
			faults.Add("decision.victims", "%q, or a replica of it, can stay", parts[i].ID)
		} else if c := parts[i]; !c.partial() && c.reason != ConfigurablePreemption && j.partIsEnough(parts, i, func(rest []candidate) bool {
			return j.fits(true) && (j.SkipRuleRecheck || len(j.notAccepted(rest)) == 0)
		}) {
			faults.Add("decision.victims", "%q can stay without its surplus", c.ID)
		}
	}
	return parts
}

// acceptedAtBest reports whether a constraint accepts a victim when all on the preemptor's side are
// gone, and nobody on its own: who was put back may have been gone when it was taken.
func (j *judge) acceptedAtBest(c candidate, gone []candidate) bool {
	ours, _ := j.sides(c)
	var beside []candidate
	for _, r := range j.running {
		if r.queue.isUnder(ours) && r.ID != j.Workload.ID {
			beside = append(beside, candidate{running: r, set: -1})
		}
	}
	j.takeAll(gone, -1)
	j.takeAll(beside, 1)
	defer j.takeAll(gone, 1)
	defer j.takeAll(beside, -1)
	return slices.ContainsFunc(c.quotas, func(q rules.QuotaConstraint) bool { return j.holds(c, q) })
}

// victimOfRules judges one victim that rules took.
func (j *judge) victimOfRules(faults *fault.List, at string, v *Victim) []candidate {
	r := j.byID[v.Workload]
	if r == nil {
		faults.Add(at+".workload", "%q is not admitted", v.Workload)
		return nil
	}
	cohort, above := "", j.cohortAbove(r)
	var quotas []rules.QuotaConstraint
	if above != nil {
		cohort = above.name
	}
	switch {
	case v.Cohort != cohort:
		faults.Add(at+".cohort", "%q of %q, want %q", v.Cohort, v.Workload, cohort)
	case v.Queue != r.Queue:
		faults.Add(at+".queue", "%q of %q, want %q", v.Queue, v.Workload, r.Queue)
	case !v.PreemptorQueued.IsZero():
		faults.Add(at+".preemptorQueued", "%v of %q, want none", v.PreemptorQueued, v.Workload)
	}
	units := []*running{r}
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
	if why := j.keeps(r); why != "" {
		faults.Add(at, "%s", why)
	}
	if len(v.Rules) == 0 {
		faults.Add(at+".rules", "no rule is named that accepts %q", v.Workload)
	}
	config := j.rulesOf()
	j.allNamed(faults, at, v, r)
	for i := range v.Rules {
		of, at := &v.Rules[i], fmt.Sprintf("%s.rules[%d]", at, i)
		if i == 0 && !j.uses(r, -1) && (j.Room == nil || of.Trigger == rules.InsufficientQuota) {
			faults.Add(at, "%q uses nothing that needs preemption", v.Workload)
		}
		found := -1
		for k := range config.Rules {
			if config.Name == of.Config && config.Rules[k].Name == of.Rule && config.Rules[k].ActivationPolicy.Trigger == of.Trigger {
				found = k
			}
		}
		if found < 0 {
			faults.Add(at, "queue %q has no rule %q with the trigger %q", j.Workload.Queue, of.Rule, of.Trigger)
			continue
		}
		rule := &config.Rules[found]
		if !j.serves(rule) || len(of.Selectors) == 0 {
			faults.Add(at, "rule %q does not serve the request now", of.Rule)
		}
		for n, selector := range of.Selectors {
			if selector < 0 || selector >= len(rule.CandidateSelectors) || n > 0 && selector <= of.Selectors[n-1] {
				faults.Add(at+".selectors", "%v: want indexes of the selectors of rule %q, rising", of.Selectors, of.Rule)
			}
		}
		for n := range rule.CandidateSelectors {
			s := &rule.CandidateSelectors[n]
			accepts, named := j.selects(s, r), slices.Contains(of.Selectors, n)
			if accepts && s.Quota != "" && !named {
				continue // the constraint did not hold
			}
			if accepts != named {
				faults.Add(at+".selectors", "%v: selector %d of rule %q accepts %q: %t", of.Selectors, n, of.Rule, v.Workload, accepts)
			}
			if named && of.Trigger == v.Rules[0].Trigger {
				quotas = append(quotas, s.Quota)
			}
		}
	}
	c := candidate{running: r, cohort: above, set: -1, reason: ConfigurablePreemption, quotas: quotas}
	for _, of := range v.Rules {
		if of.Trigger != v.Rules[0].Trigger {
			continue
		}
		if c.config = of.Config; !slices.Contains(c.names, of.Rule) {
			c.names = append(c.names, of.Rule)
		}
	}
	var parts []candidate
	for _, unit := range units {
		c.running = unit
		parts = append(parts, c)
	}
	return parts
}

// leavingOnly returns the units of a victim all of whose replicas were leaving; nil if that is not so.
func (j *judge) leavingOnly(v *Victim) (units []*running) {
	for _, few := range v.Replicas {
		part := j.leaving[podSetOf{v.Workload, few.PodSet}]
		if part == nil || few.Count != few.Leaving || few.Count != part.PodSets[0].Count {
			return nil
		}
		units = append(units, part)
	}
	return units
}

// keeps says why a workload yields to nobody, whatever rules say; empty if it may yield.
func (j *judge) keeps(r *running) string {
	switch {
	case r.NeverYields && !r.Evicted:
		return fmt.Sprintf("%q never yields", r.ID)
	case j.inactive(r.Queue):
		return fmt.Sprintf("queue %q is inactive", r.Queue)
	case j.guarded(r):
		return fmt.Sprintf("a guard protects %q", r.ID)
	case j.underMinimum(r):
		return fmt.Sprintf("the minimum runtime of %q is not over", r.ID)
	}
	return ""
}

// allNamed finds rules, of the tier that took a victim and of later ones, that accept it whatever
// constraints on quota say and are not named; and named rules that are not in the order of the tiers.
func (j *judge) allNamed(faults *fault.List, at string, v *Victim, r *running) {
	named, first := 0, len(v.Rules) == 0 // of the tier, or of one before
	for _, trigger := range rules.Triggers() {
		if first = first || v.Rules[0].Trigger == trigger; !first || j.isBad(trigger) {
			continue
		}
		for i := range j.rulesOf().Rules {
			rule := &j.rulesOf().Rules[i]
			switch {
			case rule.ActivationPolicy.Trigger != trigger:
			case named < len(v.Rules) && v.Rules[named].Rule == rule.Name:
				named++
			case j.serves(rule) && slices.ContainsFunc(rule.CandidateSelectors, func(s rules.CandidateSelector) bool { return s.Quota == "" && j.selects(&s, r) }):
				faults.Add(at+".rules", "rule %q accepts %q and is not named", rule.Name, v.Workload)
			}
		}
	}
	if named < len(v.Rules) {
		faults.Add(at+".rules", "%q is not in its place", v.Rules[named].Rule)
	}
}
