package witness

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// [preemption.Victim.Rules]: victims that the rules of an operator accept.

// victimsByRules returns what is wrong with the victims of an answer of which rules took some, or of a queue where rules take
// the place of the policies. Victims of the policies are judged one by one: they were taken with all that the policies permit.
func (q *Question) victimsByRules(victims []preemption.Victim) preemption.Faults {
	j := &judge{Question: q, victims: victims, mayBorrow: true}
	s := &ruleSearch{world: q.world, at: q.request.Now}
	if q.rules == nil {
		j.Add("decision.victims", "rules took some, but queue %q has none, or the workload preempts nobody", q.own.name)
		return j.Faults
	}
	for i := range victims {
		switch v := &victims[i]; {
		case i > 0 && v.Workload <= victims[i-1].Workload:
			j.Add(j.path(i)+".workload", "%q does not come after %q", v.Workload, victims[i-1].Workload)
		case v.Reason == preemption.ConfigurablePreemption:
			j.victimOfRules(i, v, s)
		case rulesAlone(q.world):
			j.Add(j.path(i)+".reason", "%v of %q, but rules take the place of the policies", v.Reason, v.Workload)
		default:
			j.victim(i, v, q.yielding)
		}
	}
	if len(j.Faults) > 0 {
		return j.Faults
	}
	j.limited()
	if c := stableKeeps(j.Question.world, slices.DeleteFunc(slices.Clone(j.set), (*candidate).ofRules)); c != nil {
		j.Add("decision.victims", "with the others that policies took %q may take its place back", c.of.ID)
	}
	for _, c := range j.set {
		c.remove()
	}
	defer restore(j.set)
	switch left := j.outOfOrder(j.set, s.stillAccepted); {
	case !j.fits(true):
		j.Add("decision.victims", "without them the request does not fit")
	case len(left) > 0:
		j.Add("decision.victims", "there is no order in which the constraints on quota accept %s", names(left))
	default:
		j.needed(s.stillAccepted)
	}
	return j.Faults
}

// ofRules reports whether rules took it.
func (c *candidate) ofRules() bool { return c.reason == preemption.ConfigurablePreemption }

// victimOfRules judges one victim that rules took, and adds what yields of it to the set. "They yield as a whole"; so do replicas
// that were told to leave.
func (j *judge) victimOfRules(i int, v *preemption.Victim, s *ruleSearch) {
	r := j.find(v.Workload)
	surplus := func(p preemption.Replicas) bool { return p.Count != p.Leaving }
	switch {
	case r == nil:
		j.Add(j.path(i)+".workload", "%q is not admitted", v.Workload)
		return
	case slices.ContainsFunc(v.Replicas, surplus):
		j.Add(j.path(i)+".replicas", "rules take %q as a whole", v.Workload)
		return
	case !j.countsOf(i, v, r):
		return
	}
	leaves := true
	for _, c := range r.parts() {
		if !c.isIn(v) {
			continue
		}
		c.class, c.meet, c.reason, c.byRules = ofOthers, meet(j.own, r.home), v.Reason, v.Rules
		leaves = leaves && c.leaving
		switch {
		case r.home.queue.Inactive:
			j.Add(j.path(i), "queue %q is inactive", r.home.name)
		case !j.mayYield(c, s.at):
			j.Add(j.path(i), "%s", j.kept(c, true))
		}
		j.named(i, v, c, s)
		j.set, j.by = append(j.set, c), append(j.by, i)
	}
	j.said(i, v, j.set[len(j.set)-1], leaves)
}

// named judges the rules that are named for a victim: "the rules that accept the victim, tier by tier. The first is of the tier
// that took it." Each that accepts it without a constraint on quota must be named. Another one may be named only if it accepts the
// victim when every constraint holds.
func (j *judge) named(i int, v *preemption.Victim, c *candidate, s *ruleSearch) {
	at := j.path(i) + ".rules"
	if len(v.Rules) == 0 || !slices.Contains(rules.Triggers(), v.Rules[0].Trigger) {
		j.Add(at, "no rule is named that accepts %q", v.Workload)
		return
	}
	var all []preemption.VictimRule
	for _, later := range rules.Triggers()[slices.Index(rules.Triggers(), v.Rules[0].Trigger):] {
		all = append(all, s.acceptedBy(c, later, false)...)
	}
	before := -1
	for k, by := range v.Rules {
		n := slices.IndexFunc(all, sameRule(by))
		if n <= before {
			j.Add(fmt.Sprintf("%s[%d]", at, k), "rule %q of %q with the trigger %q does not accept %q, or is not in its place",
				by.Rule, by.Config, by.Trigger, v.Workload)
			continue
		}
		before = n
		if least := s.free(all[n]); !rise(by.Selectors) || !isPartOf(least, by.Selectors) || !isPartOf(by.Selectors, all[n].Selectors) {
			j.Add(fmt.Sprintf("%s[%d].selectors", at, k), "%v, want %v, and of %v what constraints permit", by.Selectors, least, all[n].Selectors)
		}
	}
	for _, by := range all {
		if len(s.free(by)) > 0 && !slices.ContainsFunc(v.Rules, sameRule(by)) {
			j.Add(at, "rule %q accepts %q and is not named", by.Rule, v.Workload)
		}
	}
}

// free lists the selectors of a rule without a constraint on quota.
func (s *ruleSearch) free(by preemption.VictimRule) (list []int) {
	at := slices.IndexFunc(s.rules.Rules, func(r rules.Rule) bool { return r.Name == by.Rule })
	for _, k := range by.Selectors {
		if s.rules.Rules[at].CandidateSelectors[k].Quota == "" {
			list = append(list, k)
		}
	}
	return list
}

func rise(list []int) bool {
	return len(list) > 0 && slices.Equal(list, slices.Compact(slices.Sorted(slices.Values(list))))
}

func isPartOf(part, all []int) bool {
	return !slices.ContainsFunc(part, func(k int) bool { return !slices.Contains(all, k) })
}

func sameRule(by preemption.VictimRule) func(preemption.VictimRule) bool {
	return func(o preemption.VictimRule) bool {
		return o.Config == by.Config && o.Rule == by.Rule && o.Trigger == by.Trigger
	}
}
