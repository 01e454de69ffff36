package preemption

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/right"
	engine "github.com/cedesched/cede/internal/engine/rules"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
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
	sc.byRules, sc.request.Rules = false, right.RuleOptions{}
	e := s.evaluator()
	if !e.Has(r.Workload.Queue) {
		return
	}
	sc.waiting = r.waiting() // a copy: the request stays on the caller's stack
	now := instant.Of(r.Now)
	since := [...]int64{now, now, now}
	for _, o := range r.TriggersSince {
		if i := slices.Index(rules.Triggers(), o.Trigger); i >= 0 {
			since[i] = instant.Of(o.Since)
		}
	}
	sc.rules.Begin(e, &sc.waiting, now, since)
	sc.byRules, sc.request.Rules = true, right.RuleOptions{
		Alone: config.Compat.RulesAlone, OfShares: e.ReadsShares(r.Workload.Queue),
	}
}

// taker returns what takes victims by rules; nil: the queue has none.
func (sc *scratch) taker() *engine.Taker {
	if !sc.byRules {
		return nil
	}
	return &sc.rules
}

// waiting returns the workload as rules read it: when one that waits was last reserved means nothing.
func (r *Request) waiting() workload.Workload {
	w := r.Workload
	if !r.HoldsQuota {
		w.ReservedAt = time.Time{}
	}
	return w
}

// leaveRules drops what the request was given.
func (sc *scratch) leaveRules() {
	if sc.byRules {
		sc.byRules, sc.waiting = false, workload.Workload{}
		sc.rules.End()
	}
}

// naming is the memory to name the rules of victims, whose lists are parts of one.
type naming struct {
	rules     []VictimRule
	selectors []int
	ends      []int32 // in selectors, by rule
	of        []int32 // in rules where those of each victim end
}

// nameRules sets the rules of the victims that rules took. All their rules are one allocation, and all
// their selectors another.
func (sc *scratch) nameRules(taken []right.Victim, list []Victim) {
	n := &sc.naming
	n.rules, n.selectors, n.ends, n.of = n.rules[:0], n.selectors[:0], n.ends[:0], n.of[:0]
	for i := range taken {
		if first := len(n.rules); taken[i].ByRules {
			sc.rules.Matches(sc.request.Now, &taken[i], func(by *selectors.Tier, trigger rules.Trigger, m rules.Match) {
				n.selectors = append(n.selectors, m.Selector)
				name, last := by.RuleName(m), len(n.rules)-1
				if last >= first && n.rules[last].Rule == name && n.rules[last].Trigger == trigger {
					n.ends[last]++
					return
				}
				n.rules = append(n.rules, VictimRule{Config: by.Config(), Rule: name, Trigger: trigger})
				n.ends = append(n.ends, int32(len(n.selectors)))
			})
		}
		n.of = append(n.of, int32(len(n.rules)))
	}
	named, selectors := slices.Clone(n.rules), slices.Clone(n.selectors)
	from := int32(0)
	for i, end := range n.ends {
		named[i].Selectors = selectors[from:end:end]
		from = end
	}
	clear(n.rules)
	from = 0
	at := -1 // in list, which has each workload once
	for i, end := range n.of {
		if i == 0 || !taken[i].Workload.Is(taken[i-1].Workload) {
			at++
		}
		if from < end && len(list[at].Rules) == 0 { // those of leaving replicas come after their workload's
			list[at].Rules = named[from:end:end]
		}
		from = end
	}
}

// triggers lists the triggers that hold, after a search that needed rules.
func (sc *scratch) triggers() (list []rules.Trigger) {
	if !sc.byRules {
		return nil
	}
	for i, trigger := range rules.Triggers() {
		if sc.rules.Holds(i) {
			list = append(list, trigger)
		}
	}
	return list
}

// ruleFaults lists the bad selectors that kept rules from permitting a workload.
func (sc *scratch) ruleFaults() (list []string) {
	if !sc.byRules {
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
