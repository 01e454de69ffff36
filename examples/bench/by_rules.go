package main

import (
	"fmt"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/asrules"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// What decides.
const (
	byPolicies = "policies"
	byRules    = "rules"
	by64Rules  = "64-rules"
)

// config returns the configuration of a preemptor.
func (o *options) config() preemption.Config {
	c := preemption.Config{}
	if o.mode == scenario.Fair {
		c.Sharing = preemption.Fair
	}
	if o.by != byPolicies {
		_, c = asrules.Of(preemption.State{}, c)
	}
	return c
}

// state puts rules in the place of policies, if asked to.
func (o *options) state(st preemption.State) preemption.State {
	if o.by == byPolicies {
		return st
	}
	policies := *o
	policies.by = byPolicies
	st, _ = asrules.Of(st, policies.config())
	for i := range st.Rules {
		if o.by == by64Rules {
			st.Rules[i].Rules = append(st.Rules[i].Rules, unmatched(len(st.Rules[i].Rules))...)
		}
	}
	return st
}

// unmatched returns rules that match no workload, as many as fit beside n others.
func unmatched(n int) (list []rules.Rule) {
	for i := n; i < rules.MaxRules; i++ {
		r := rules.Rule{Name: fmt.Sprint("unmatched-", i), ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}}
		for j := range rules.MaxSelectors {
			r.CandidateSelectors = append(r.CandidateSelectors, rules.CandidateSelector{
				Scope: rules.AnyClusterQueue, LabelSelector: &workload.LabelSelector{MatchLabels: map[string]string{"team": fmt.Sprint("none-", i, "-", j)}},
			})
		}
		list = append(list, r)
	}
	return list
}

// lawful lets scenarios be checked by the law alone if rules may choose other victims than the policies.
func (b *bench) lawful(st preemption.State, list []scenario.Scenario) []scenario.Scenario {
	policies := b.options
	policies.by = byPolicies
	for i := range list {
		if s := &list[i]; s.Outcome.Possible() && len(asrules.Unsaid(st, s.Request, policies.config())) > 0 {
			s.Defined, s.Kueue = nil, nil
		}
	}
	return list
}
