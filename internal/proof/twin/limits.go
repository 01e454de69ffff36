package twin

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/limits"
)

// limited reports whether a limit refuses a candidate after those taken, by a look at every event.
func (d *decision) limited(taken []candidate, c candidate) bool {
	again := slices.ContainsFunc(taken, func(t candidate) bool { return t.w.ID == c.w.ID })
	if again && c.reason != preemption.ConfigurablePreemption || c.w.Evicted {
		return false
	}
	type pair struct{ victim, from, to string }
	class := func(c candidate) *limits.Class {
		of := &limits.Class{PreemptingQueue: d.request.Workload.Queue, PreemptedQueue: c.w.Queue}
		for _, r := range c.by {
			if r.Trigger != c.trigger {
				continue
			}
			if of.Config = r.Config; !slices.Contains(of.Rules, r.Rule) {
				of.Rules = append(of.Rules, r.Rule)
			}
		}
		return of
	}
	own := d.request.Workload.Queue
	labels := func(name string) map[string]string { return d.queues[name].Labels }
	for _, l := range d.config.Limits {
		if !l.Covers(class(c), labels) {
			continue
		}
		window, _ := l.Window.Get()
		var pairs []pair
		for e := range d.request.History.All {
			if d.request.Now.Sub(e.At) < window && l.Covers(&e.Class, labels) {
				pairs = append(pairs, pair{e.Victim, e.PreemptingQueue, e.PreemptedQueue})
			}
		}
		for i, t := range taken {
			last := t.w.ID != c.w.ID && !slices.ContainsFunc(taken[i+1:], func(o candidate) bool { return o.w.ID == t.w.ID })
			if last && !t.w.Evicted && l.Covers(class(t), labels) {
				pairs = append(pairs, pair{t.w.ID, own, t.w.Queue})
			}
		}
		count := int64(0)
		for _, p := range pairs {
			if l.Scope == limits.Global || l.Scope == limits.PreemptingClusterQueue && p.from == own ||
				l.Scope == limits.PreemptedClusterQueue && p.to == c.w.Queue || l.Scope == limits.PreemptedWorkload && p.victim == c.w.ID {
				count++
			}
		}
		if count >= l.Limit {
			return true
		}
	}
	return false
}
