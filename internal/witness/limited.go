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
func (w *world) withinLimits(c *candidate, taken []*candidate, at time.Time) bool {
	counted := func(other *candidate) bool { return other.of == c.of && !other.leaving }
	if c.leaving || slices.ContainsFunc(taken, counted) {
		return true
	}
	for i := range w.config.Limits {
		l := &w.config.Limits[i]
		if w.covers(l, c.of.home) && w.count(l, c, taken, at) >= l.Limit {
			return false
		}
	}
	return true
}

// covers: "If both are empty, all do, also those by the policies of queues. Nil: all."
func (w *world) covers(l *limits.Limit, home *node) bool {
	return len(l.Configs) == 0 && len(l.Rules) == 0 && w.selects(l.PreemptingQueues, w.own.name) && w.selects(l.PreemptedQueues, home.name)
}

func (w *world) selects(s *workload.LabelSelector, name string) bool {
	var labels map[string]string
	if n := find(w.queues, name); n != nil {
		labels = n.queue.Labels
	}
	return s == nil || s.Matches(labels)
}

// count is the number of preemptions that the limit counts together with that of the candidate: those in
// the window, and those of this decision. "A preemption leaves it at exactly that time after it was
// confirmed."
func (w *world) count(l *limits.Limit, c *candidate, taken []*candidate, at time.Time) (n int64) {
	for e := range w.request.History.All {
		covered := len(l.Configs) == 0 && len(l.Rules) == 0 &&
			w.selects(l.PreemptingQueues, e.PreemptingQueue) && w.selects(l.PreemptedQueues, e.PreemptedQueue)
		if covered && e.At.Add(l.Window.Or(0)).After(at) && w.together(l, e.PreemptingQueue, e.PreemptedQueue, e.Victim, c) {
			n++
		}
	}
	seen := map[*running]bool{}
	for _, other := range taken {
		if other.leaving || seen[other.of] || !w.covers(l, other.of.home) {
			continue
		}
		seen[other.of] = true
		if w.together(l, w.own.name, other.of.home.name, other.of.ID, c) {
			n++
		}
	}
	return n
}

// together: "Scope says what a limit counts together": all, those for one queue, those of one queue, those
// of one workload.
func (w *world) together(l *limits.Limit, preempting, preempted, victim string, c *candidate) bool {
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
