package witness

import (
	"slices"
	"time"

	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/workload"
)

// KEP-13396, PreemptionLimit: "Limits limit the preemptions in sliding windows, which Request.History
// tells."

// withinLimits: "A victim must be within each limit that it falls under, counting those taken before it
// in the same decision. Replicas of one are one preemption, and who is being evicted already is none."
func withinLimits(w *world, c *candidate, taken []*candidate, at time.Time) bool {
	for i := range w.config.Limits {
		l := &w.config.Limits[i]
		counted := func(other *candidate) bool {
			return other.of == c.of && !other.leaving && covers(w, l, classOf(w, other))
		}
		if c.leaving || slices.ContainsFunc(taken, counted) {
			continue
		}
		if covers(w, l, classOf(w, c)) && count(w, l, c, taken, at) >= l.Limit {
			return false
		}
	}
	return true
}

// classOf says what made a candidate a victim: the names of the rules "of the tier that took it. Empty: the
// policies of the queue."
func classOf(w *world, c *candidate) limits.Class {
	class := limits.Class{PreemptingQueue: w.own.name, PreemptedQueue: c.of.home.name}
	for _, by := range c.byRules {
		if class.Config = by.Config; by.Trigger == c.byRules[0].Trigger {
			class.Rules = append(class.Rules, by.Rule)
		}
	}
	return class
}

// covers: "Configs are names of configurations of package rules, and Rules of rules in them: only preemptions by
// one of these fall under the limit. If both are empty, all do, also those by the policies of queues." "Nil: all."
func covers(w *world, l *limits.Limit, c limits.Class) bool {
	names := func(rule string) bool { return slices.Contains(l.Rules, rule) }
	return (len(l.Configs) == 0 || slices.Contains(l.Configs, c.Config)) && (len(l.Rules) == 0 || slices.ContainsFunc(c.Rules, names)) &&
		selects(w, l.PreemptingQueues, c.PreemptingQueue) && selects(w, l.PreemptedQueues, c.PreemptedQueue)
}

func selects(w *world, s *workload.LabelSelector, name string) bool {
	var labels map[string]string
	if n := find(w.queues, name); n != nil {
		labels = n.queue.Labels
	}
	return s == nil || s.Matches(labels)
}

// count is the number of preemptions that the limit counts together with that of the candidate: those in
// the window, and those of this decision. "A preemption leaves it at exactly that time after it was
// confirmed."
func count(w *world, l *limits.Limit, c *candidate, taken []*candidate, at time.Time) (n int64) {
	for e := range w.request.History.All {
		inside := e.At.Add(l.Window.Or(0)).After(at) && covers(w, l, e.Class)
		if inside && together(w, l, e.PreemptingQueue, e.PreemptedQueue, e.Victim, c) {
			n++
		}
	}
	seen := map[*running]bool{}
	for _, other := range taken {
		if other.leaving || seen[other.of] || !covers(w, l, classOf(w, other)) {
			continue
		}
		seen[other.of] = true
		if together(w, l, w.own.name, other.of.home.name, other.of.ID, c) {
			n++
		}
	}
	return n
}

// together: "Scope says what a limit counts together": all, those for one queue, those of one queue, those
// of one workload.
func together(w *world, l *limits.Limit, preempting, preempted, victim string, c *candidate) bool {
	switch l.Scope {
	case limits.PreemptingClusterQueue:
		return preempting == w.own.name
	case limits.PreemptedClusterQueue:
		return preempted == c.of.home.name
	case limits.PreemptedWorkload:
		return victim == c.of.ID
	}
	return true
}
