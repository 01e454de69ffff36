package preemption

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/rules"
)

// VictimRule is a rule that accepts a victim: the names of its configuration and of the rule,
// its trigger, and the indexes, rising from 0, of its selectors that accept the victim
// (KEP-13396, the cause of a preemption). The zero value is no rule.
type VictimRule struct {
	Config    string        `json:"config"`
	Rule      string        `json:"rule"`
	Trigger   rules.Trigger `json:"trigger,omitempty"`
	Selectors []int         `json:"selectors"`
}

// enterRules gives the request the rules of its queue, if there are any.
func (sc *scratch) enterRules(s *Snapshot, config *Config, r *Request) {
	d := &sc.request
	d.Rules, d.RulesAlone, d.RulesOfShares = nil, false, false
	e := s.evaluator()
	if !e.Has(r.Workload.Queue) {
		return
	}
	w := r.Workload // a copy: the request stays on the caller's stack
	now := instant.Of(r.Now)
	since := [...]int64{now, now, now}
	for _, o := range r.TriggersSince {
		if i := slices.Index(rules.Triggers(), o.Trigger); i >= 0 {
			since[i] = instant.Of(o.Since)
		}
	}
	sc.rules.Begin(e, &w, now, since)
	d.RuleLooks, d.RuleRecheck = config.MaxRuleLooks, !config.SkipRuleRecheck
	d.Rules, d.RulesAlone, d.RulesOfShares = &sc.rules, config.RulesAlone, e.ReadsShares(r.Workload.Queue)
}

// nameRules sets the rules of the victims that rules took.
func (sc *scratch) nameRules(taken []search.Victim, list []Victim) {
	for i := range taken {
		v := &taken[i]
		if !v.ByRules {
			continue
		}
		at, _ := slices.BinarySearchFunc(list, v.Workload.Facts.ID, func(v Victim, id string) int { return cmp.Compare(v.Workload, id) })
		of := &list[at]
		sc.rules.Matches(sc.request.Now, v, func(by *rules.Tier, trigger rules.Trigger, m rules.Match) {
			name := by.RuleName(m)
			if n := len(of.Rules); n == 0 || of.Rules[n-1].Rule != name || of.Rules[n-1].Trigger != trigger {
				of.Rules = append(of.Rules, VictimRule{Config: by.Config(), Rule: name, Trigger: trigger})
			}
			last := &of.Rules[len(of.Rules)-1]
			last.Selectors = append(last.Selectors, m.Selector)
		})
	}
}

// triggers lists the triggers that hold, after a search that needed rules.
func (sc *scratch) triggers() (list []rules.Trigger) {
	if sc.request.Rules == nil {
		return nil
	}
	for i, trigger := range rules.Triggers() {
		if sc.rules.Holds(i) {
			list = append(list, trigger)
		}
	}
	return list
}

// ruleFaults lists the bad selectors that kept rules from permitting anybody.
func (sc *scratch) ruleFaults() (list []string) {
	if sc.request.Rules == nil {
		return nil
	}
	return faultTexts(sc.rules.Faults())
}

// faultTexts returns the text of each fault; nil of anything else.
func faultTexts(err error) (list []string) {
	faults, _ := err.(fault.List)
	for _, f := range faults {
		list = append(list, f.Error())
	}
	return list
}
