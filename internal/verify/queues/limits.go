package queues

import (
	"slices"
	"time"

	"github.com/cedesched/cede/limits"
	"github.com/cedesched/cede/queue"
)

// Within reports whether a preemption more would be within all limits at an instant, by a look at
// every event. events holds the confirmed ones and those of the same decision, which are at the
// instant.
func Within(list []limits.Limit, events []limits.Event, more limits.Event, queues []queue.Queue, now time.Time) bool {
	labels := func(name string) map[string]string {
		for i := range queues {
			if queues[i].Name == name {
				return queues[i].Labels
			}
		}
		return nil
	}
	for i := range list {
		l := &list[i]
		if !l.Covers(&more.Class, labels) {
			continue
		}
		count := int64(0)
		for j := range events {
			e := &events[j]
			same := map[limits.Scope]bool{
				limits.Global: true, limits.PreemptingClusterQueue: e.PreemptingQueue == more.PreemptingQueue,
				limits.PreemptedClusterQueue: e.PreemptedQueue == more.PreemptedQueue, limits.PreemptedWorkload: e.Victim == more.Victim,
			}[l.Scope]
			if same && l.Covers(&e.Class, labels) && now.Before(e.At.Add(l.Window.Or(0))) {
				count++
			}
		}
		if count >= l.Limit {
			return false
		}
	}
	return true
}

// limited reports whether a limit refuses a candidate after those taken.
func (j *judge) limited(taken []candidate, c candidate) bool {
	if len(j.Limits) == 0 || c.Evicted {
		return false
	}
	event := func(c candidate) limits.Event {
		return limits.Event{Preemptor: j.Workload.ID, Victim: c.ID, At: j.now, Class: limits.Class{
			PreemptingQueue: j.Workload.Queue, PreemptedQueue: c.Queue, Config: c.config, Rules: c.names,
		}}
	}
	events := j.Events[:len(j.Events):len(j.Events)]
	for i, t := range taken {
		if t.ID == c.ID && c.reason != ConfigurablePreemption {
			return false // counted already
		}
		again := t.ID == c.ID || slices.ContainsFunc(taken[i+1:], func(o candidate) bool { return o.ID == t.ID })
		if !t.Evicted && !again { // of which rules took the rest, they took all
			events = append(events, event(t))
		}
	}
	return !Within(j.Limits, events, event(c), j.Queues, j.now)
}
