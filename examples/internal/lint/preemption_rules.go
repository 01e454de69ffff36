package lint

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/rules"
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
		faults, _ := rules.Validate([]rules.Config{*config}).(fault.List)
		for _, f := range faults {
			add("a tier with a bad selector permits nobody", "%v", f)
		}
		if !named[config.Name] {
			add("", "no queue refers to them")
		}
		for j := range config.Rules {
			c.neverApplies(&config.Rules[j], add)
		}
	}
	return found
}

// neverApplies finds selectors of a rule that match nobody.
func (c *Cluster) neverApplies(r *rules.Rule, add add) {
	if len(r.CandidateSelectors) == 0 {
		add("", "rule %q has no candidate selector, so that it permits nobody", r.Name)
	}
	for i := range r.CandidateSelectors {
		s := &r.CandidateSelectors[i]
		if of := s.ClusterQueueSelector; of != nil && of.Validate("") == nil &&
			!slices.ContainsFunc(c.State.Queues, func(q queue.Queue) bool { return of.Matches(q.Labels) }) {
			add("", "the clusterQueueSelector of rule %q, selector %d, selects no queue", r.Name, i)
		}
		known := slices.Concat(c.State.Admitted, c.Pending)
		if of := s.LabelSelector; len(known) > 0 && of != nil && of.Validate("") == nil &&
			!slices.ContainsFunc(known, func(w workload.Workload) bool { return of.Matches(w.Labels) }) {
			add(fmt.Sprintf("none of %d workloads", len(known)), "the labelSelector of rule %q, selector %d, selects nobody who runs or waits", r.Name, i)
		}
	}
}
