package main

import (
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/asrules"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

// What decides.
const (
	byPolicies = "policies"
	byRules    = "rules"
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
	return st
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
