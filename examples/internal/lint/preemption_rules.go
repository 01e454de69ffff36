package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// preemptionRules finds preemption rules that are bad or never apply.
func preemptionRules(c *Cluster) []Finding {
	var found []Finding
	named := map[string]bool{}
	for i := range c.State.Queues {
		q := &c.State.Queues[i]
		has := slices.ContainsFunc(c.State.Rules, func(r rules.Config) bool { return r.Name == q.Rules })
		if named[q.Rules] = true; q.Rules != "" && !has {
			adder(&found, placeOf("queue", q.Name))("", "it refers to the rules %q, which are not there", q.Rules)
		}
	}
	for i := range c.State.Rules {
		config := &c.State.Rules[i]
		add := adder(&found, placeOf("rules", config.Name))
		faults, _ := rules.Validate([]rules.Config{*config}).(preemption.Faults)
		for _, f := range faults {
			example := ""
			if ofSelector(f.Path) {
				example = "a tier with a bad selector permits nobody"
			}
			add(example, "%s", strings.TrimPrefix(f.Error(), "configs[0]."))
		}
		if len(config.Rules) == 0 {
			add("", "there is no rule in them")
		}
		if !named[config.Name] {
			add("", "no queue refers to them")
		}
		for j := range config.Rules {
			c.neverApplies(config, &config.Rules[j], add)
			c.covered(config, j, add)
		}
	}
	return found
}

// ofSelector reports whether a fault is one of a selector of a rule.
func ofSelector(path string) bool {
	return strings.Contains(path, ".candidateSelectors[") || strings.Contains(path, ".preemptorSelector") || strings.Contains(path, ".preemptorPriorityClassSelector")
}

// neverApplies finds what makes a rule, or a selector of it, match nobody. Of those that are bad
// Validate has said that.
func (c *Cluster) neverApplies(config *rules.Config, r *rules.Rule, add add) {
	if len(r.CandidateSelectors) == 0 {
		add("", "rule %q has no candidate selector, so that it permits nobody", r.Name)
	}
	if list, _ := rules.Validate([]rules.Config{{Name: config.Name, Rules: []rules.Rule{*r}}}).(preemption.Faults); len(list) > 0 {
		return
	}
	users := c.users(config)
	preemptors := slices.DeleteFunc(c.known(), func(w workload.Workload) bool {
		return !slices.ContainsFunc(users, func(q *queue.Queue) bool { return q.Name == w.Queue })
	})
	served := c.preemptorsOf(r, users, preemptors, add)
	for i := range r.CandidateSelectors {
		of := &reader{c, fmt.Sprintf("rule %q, selector %d,", r.Name, i), users, served, add}
		of.scope(&r.CandidateSelectors[i])
		of.contradictions(&r.CandidateSelectors[i])
		of.selects(&r.CandidateSelectors[i])
		of.bounds(&r.CandidateSelectors[i])
	}
}

// users returns the queues that refer to a configuration.
func (c *Cluster) users(config *rules.Config) (list []*queue.Queue) {
	for i := range c.State.Queues {
		if c.State.Queues[i].Rules == config.Name {
			list = append(list, &c.State.Queues[i])
		}
	}
	return list
}

// known returns who runs and who waits.
func (c *Cluster) known() []workload.Workload { return slices.Concat(c.State.Admitted, c.Pending) }

// preemptorsOf finds selectors of preemptors that nobody meets, and a trigger that never holds. It returns
// whom the rule serves.
func (c *Cluster) preemptorsOf(r *rules.Rule, users []*queue.Queue, all []workload.Workload, add add) (served []workload.Workload) {
	if contradicts(&r.PreemptorPriorityClass) {
		add("", "rule %q: each name in matchNames of the preemptorPriorityClassSelector is in notMatchNames, too", r.Name)
		return nil
	}
	if key, is := contradictory(r.PreemptorSelector); is {
		add("", "rule %q serves nobody: its preemptorSelector contradicts itself about the label %q", r.Name, key)
		return nil
	}
	for _, w := range all {
		if (r.PreemptorSelector == nil || r.PreemptorSelector.Matches(w.Labels)) && ofClass(&r.PreemptorPriorityClass, &w) {
			served = append(served, w)
		}
	}
	if len(all) > 0 && len(served) == 0 {
		add("none of "+workloads(len(all)), "rule %q serves nobody who runs or waits in the queues that refer to it", r.Name)
	}
	withTopology := func(q *queue.Queue) bool {
		return slices.ContainsFunc(q.Quotas, func(of quota.Quota) bool { return c.Topologies[of.Flavor] != "" })
	}
	if c.Topologies != nil && len(users) > 0 && r.ActivationPolicy.Trigger == rules.QuotaFeasibleAndInsufficientTopology && !slices.ContainsFunc(users, withTopology) {
		add("", "the trigger of rule %q never holds: no flavor of a queue that refers to it has a topology", r.Name)
	}
	return served
}

func contradicts(s *rules.ClassSelector) bool {
	return len(s.MatchNames) > 0 && !slices.ContainsFunc(s.MatchNames, func(name string) bool { return !slices.Contains(s.NotMatchNames, name) })
}

// ofClass reports whether a selector selects the priority class of a workload.
func ofClass(s *rules.ClassSelector, w *workload.Workload) bool {
	class := w.PriorityClass
	return (len(s.MatchNames) == 0 || slices.Contains(s.MatchNames, class)) && (class == "" || !slices.Contains(s.NotMatchNames, class))
}
