package queues

import (
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
)

// Within reports whether a preemption more would be within all limits at an instant, by a look at
// every event. events holds the confirmed ones and those of the same decision, which are at the
// instant.
func Within(list []limits.Limit, events []limits.Event, more limits.Event, queues []queue.Queue, now time.Time) bool {
	return !slices.ContainsFunc(list, func(l limits.Limit) bool {
		return l.Covers(&more.Class, labelsOf(queues)) && counted(&l, events, more, queues, now) >= l.Limit
	})
}

// labelsOf returns the labels of queues by name.
func labelsOf(queues []queue.Queue) func(name string) map[string]string {
	return func(name string) map[string]string {
		for i := range queues {
			if queues[i].Name == name {
				return queues[i].Labels
			}
		}
		return nil
	}
}

// counted returns how many events a limit counts together with a preemption more.
func counted(l *limits.Limit, events []limits.Event, more limits.Event, queues []queue.Queue, now time.Time) (count int64) {
	for j := range events {
		e := &events[j]
		same := map[limits.Scope]bool{
			limits.Global: true, limits.PreemptingClusterQueue: e.PreemptingQueue == more.PreemptingQueue,
			limits.PreemptedClusterQueue: e.PreemptedQueue == more.PreemptedQueue, limits.PreemptedWorkload: e.Victim == more.Victim,
		}[l.Scope]
		if same && l.Covers(&e.Class, labelsOf(queues)) && now.Before(e.At.Add(l.Window.Or(0))) {
			count++
		}
	}
	return count
}

// event is what a victim adds to the history.
func (j *judge) event(c candidate) limits.Event {
	return limits.Event{Preemptor: j.Workload.ID, Victim: c.ID, At: j.now, Class: limits.Class{
		PreemptingQueue: j.Workload.Queue, PreemptedQueue: c.Queue, Config: c.config, Rules: c.names,
	}}
}

// limited reports whether a limit refuses a candidate after those taken.
func (j *judge) limited(taken []candidate, c candidate) bool {
	if len(j.Limits) == 0 || c.Evicted {
		return false
	}
	events := j.Events[:len(j.Events):len(j.Events)]
	for i, t := range taken {
		if t.ID == c.ID && !t.Evicted && c.reason != ConfigurablePreemption {
			return false // counted already
		}
		again := t.ID == c.ID || slices.ContainsFunc(taken[i+1:], func(o candidate) bool { return o.ID == t.ID && !o.Evicted })
		if !t.Evicted && !again { // of which rules took the rest, they took all
			events = append(events, j.event(t))
		}
	}
	return !Within(j.Limits, events, j.event(c), j.Queues, j.now)
}

// overLimits reports whether those taken are over a limit.
func (x *checker) overLimits() bool {
	for i, c := range x.taken {
		if x.limited(x.taken[:i], c) {
			return true
		}
	}
	return false
}

// limitsOf names the limits that count a candidate together with others.
func (x *checker) limitsOf(c candidate) (names []string) {
	e := x.event(c)
	for i := range x.Limits {
		if l := &x.Limits[i]; !c.Evicted && l.Scope != limits.PreemptedWorkload && l.Covers(&e.Class, labelsOf(x.Queues)) {
			names = append(names, l.Name)
		}
	}
	return names
}

// limitOf returns whom a cap of a certificate counts that names a limit, and how many of them may
// yield; ok is false if the limit counts nobody together so.
func (x *checker) limitOf(of *CertifiedCap) (counts func(candidate) bool, most int64, ok bool) {
	at := slices.IndexFunc(x.Limits, func(l limits.Limit) bool { return l.Name == of.Limit })
	if at < 0 || (x.Limits[at].Scope == limits.PreemptedClusterQueue) != (of.Queue != "") {
		return nil, 0, false
	}
	counts = func(c candidate) bool {
		return slices.Contains(x.limitsOf(c), of.Limit) && (of.Queue == "" || c.Queue == of.Queue)
	}
	more := limits.Event{Class: limits.Class{PreemptingQueue: x.Workload.Queue, PreemptedQueue: of.Queue}}
	l := &x.Limits[at]
	return counts, max(0, l.Limit-counted(l, x.Events, more, x.Queues, x.now)), true
}

// ceiling returns how many workloads may yield at most by limits.
func (x *checker) ceiling() int64 {
	all, leaving := map[string]bool{}, map[string]bool{}
	held := map[CertifiedCap]map[string]bool{}
	for _, k := range x.kinds {
		for _, c := range k.list {
			all[c.ID] = true
			leaving[c.ID] = leaving[c.ID] || c.Evicted // of it that may yield whatever the limits say
			for _, name := range x.limitsOf(c) {
				for _, of := range []CertifiedCap{{Limit: name}, {Limit: name, Queue: c.Queue}} {
					if held[of] == nil {
						held[of] = map[string]bool{}
					}
					held[of][c.ID] = true
				}
			}
		}
	}
	least := int64(len(all))
	for of, list := range held {
		maps.DeleteFunc(list, func(id string, _ bool) bool { return leaving[id] })
		if _, most, ok := x.limitOf(&of); ok {
			least = min(least, int64(len(all))-max(0, int64(len(list))-most))
		}
	}
	return least
}
