package lint

import (
	"slices"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// preemptionLimits finds limits that count nothing, and those that forbid everything.
func preemptionLimits(c *Cluster) []Finding {
	var found []Finding
	for i := range c.Config.Limits {
		l := &c.Config.Limits[i]
		add := adder(&found, placeOf("limit", l.Name))
		c.limitNames(l, add)
		c.limitSelector("preemptingClusterQueueSelector", l.PreemptingQueues, add)
		c.limitSelector("preemptedClusterQueueSelector", l.PreemptedQueues, add)
		if l.Limit == 0 && len(l.Configs)+len(l.Rules) == 0 && l.PreemptingQueues == nil && l.PreemptedQueues == nil {
			add("nobody yields to anybody", "it is zero and counts everything, so that it forbids each preemption")
		}
	}
	return found
}

// limitSelector finds a selector of queues that selects none.
func (c *Cluster) limitSelector(field string, of *workload.LabelSelector, add add) {
	if of != nil && !slices.ContainsFunc(c.State.Queues, func(q queue.Queue) bool { return of.Matches(q.Labels) }) {
		add("", "its %s selects no queue, so that it counts nothing", field)
	}
}

// limitNames finds names of configurations and rules that nothing has.
func (c *Cluster) limitNames(l *limits.Limit, add add) {
	for _, name := range l.Configs {
		if c.config(name) == nil {
			add("", "it names the rules %q, which are not there", name)
		}
	}
	inUse := len(l.Configs)+len(l.Rules) == 0
	for i := range c.State.Rules {
		config := &c.State.Rules[i]
		named := slices.Contains(l.Configs, config.Name) ||
			len(l.Configs) == 0 && slices.ContainsFunc(config.Rules, func(r rules.Rule) bool { return slices.Contains(l.Rules, r.Name) })
		inUse = inUse || named && len(c.users(config)) > 0
	}
	if !inUse {
		add("", "it counts nothing: no queue refers to the rules that it names")
	}
	for _, name := range l.Rules {
		has := func(config rules.Config) bool {
			return (len(l.Configs) == 0 || slices.Contains(l.Configs, config.Name)) && slices.ContainsFunc(config.Rules, func(r rules.Rule) bool { return r.Name == name })
		}
		if !slices.ContainsFunc(c.State.Rules, has) {
			add("", "it names the rule %q, which is not there", name)
		}
	}
}
