package verify

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
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
		case j.Config.Compat.RulesAlone:
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
	if len(left) > 0 {
		faults.Add("decision.victims", "there is no order in which the constraints on quota accept %s", names(left))
		return parts
	}
	suffices := func(rest []reference.Candidate) bool {
		return j.Fits(true) && len(j.NotAccepted(rest)) == 0
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
	j.named(faults, at, v, &c)
	if !j.Uses(r, -1) && (j.Request.Room == nil || c.ByRule.Trigger == rules.InsufficientQuota) {
		faults.Add(at+".rules", "%q uses nothing that needs preemption", v.Workload)
	}
	for _, c.Running = range units {
		parts = append(parts, c)
	}
	return parts
}

// named judges the rules that are named for a victim. The tier of the first one and later tiers count. Each rule of
// them that accepts the victim without a constraint on quota must be named. Another rule may be named only if it
// accepts the victim when every constraint holds. It notes by which constraints the tier accepted the victim.
func (j *judge) named(faults *fault.List, at string, v *preemption.Victim, c *reference.Candidate) {
	if len(v.Rules) == 0 || !slices.Contains(rules.Triggers(), v.Rules[0].Trigger) {
		faults.Add(at+".rules", "no rule is named that accepts %q", v.Workload)
		return
	}
	c.ByRule = reference.Acceptance{Trigger: v.Rules[0].Trigger, Config: j.RulesOf().Name}
	free := j.RulesThat(c)
	c.ByRule.Held = reference.Constraints[:]
	all := j.RulesThat(c)
	c.ByRule.Held = nil
	find := func(list []preemption.VictimRule, of preemption.VictimRule) int {
		return slices.IndexFunc(list, func(o preemption.VictimRule) bool {
			return o.Config == of.Config && o.Rule == of.Rule && o.Trigger == of.Trigger
		})
	}
	before := -1
	for i, of := range v.Rules {
		at, n := fmt.Sprintf("%s.rules[%d]", at, i), find(all, of)
		if n <= before {
			faults.Add(at, "rule %q of %q with the trigger %q does not accept %q, or is not in its place",
				of.Rule, of.Config, of.Trigger, v.Workload)
			continue
		}
		before = n
		wanted := []int(nil)
		if k := find(free, of); k >= 0 {
			wanted = free[k].Selectors
		}
		rising := slices.Compact(slices.Sorted(slices.Values(of.Selectors)))
		within := func(a, b []int) bool {
			return !slices.ContainsFunc(a, func(s int) bool { return !slices.Contains(b, s) })
		}
		if len(rising) == 0 || !slices.Equal(rising, of.Selectors) || !within(wanted, rising) || !within(rising, all[n].Selectors) {
			faults.Add(at+".selectors", "%v, want %v, and of %v what constraints permit", of.Selectors, wanted, all[n].Selectors)
			continue
		}
		if of.Trigger != c.ByRule.Trigger {
			continue
		}
		c.ByRule.Names = append(c.ByRule.Names, of.Rule)
		for _, s := range of.Selectors {
			q := j.constraint(of, s)
			c.ByRule.Free = c.ByRule.Free || q == ""
			c.ByRule.Bound = append(c.ByRule.Bound, reference.Parts(q)...)
		}
	}
	for _, of := range free {
		if find(v.Rules, of) < 0 {
			faults.Add(at+".rules", "rule %q accepts %q and is not named", of.Rule, v.Workload)
		}
	}
}

// constraint returns the constraint on quota of a selector of a rule.
func (j *judge) constraint(of preemption.VictimRule, selector int) rules.QuotaConstraint {
	list := j.RulesOf().Rules
	at := slices.IndexFunc(list, func(r rules.Rule) bool { return r.Name == of.Rule && r.ActivationPolicy.Trigger == of.Trigger })
	return list[at].CandidateSelectors[selector].Quota
}
