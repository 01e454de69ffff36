package reference

import (
	"slices"

	"github.com/cedesched/cede/queue/limits"
)

// Limited reports whether a limit refuses a candidate after what is taken. What leaves already adds nothing, nor does
// another part of a workload that counts already; but what rules take they take as a whole.
func (q *times) Limited(taken []Candidate, c Candidate) bool {
	if len(q.Config.Limits) == 0 || c.Evicted {
		return false
	}
	events := q.confirmed()
	for i, t := range taken {
		if t.Evicted {
			continue
		}
		if t.ID == c.ID && !c.OfRules() {
			return false
		}
		again := t.ID == c.ID || slices.ContainsFunc(taken[i+1:], func(o Candidate) bool { return o.ID == t.ID && !o.Evicted })
		if !again {
			events = append(events, q.event(t))
		}
	}
	more := q.event(c)
	return slices.ContainsFunc(q.Config.Limits, func(l limits.Limit) bool {
		return l.Covers(&more.Class, q.labels) && q.counted(&l, events, more) >= l.Limit
	})
}

func (q *times) confirmed() []limits.Event { return slices.Collect(q.Request.History.All) }

// labels returns the labels of a queue.
func (q *times) labels(name string) map[string]string {
	if n := q.tree.Queues[name]; n != nil {
		return n.Queue.Labels
	}
	return nil
}

// counted returns how many events a limit counts together with a preemption more.
func (q *times) counted(l *limits.Limit, events []limits.Event, more limits.Event) (count int64) {
	for i := range events {
		e := &events[i]
		same := map[limits.Scope]bool{
			limits.Global: true, limits.PreemptingClusterQueue: e.PreemptingQueue == more.PreemptingQueue,
			limits.PreemptedClusterQueue: e.PreemptedQueue == more.PreemptedQueue, limits.PreemptedWorkload: e.Victim == more.Victim,
		}[l.Scope]
		if same && l.Covers(&e.Class, q.labels) && q.Now.Before(e.At.Add(l.Window.Or(0))) {
			count++
		}
	}
	return count
}

// event is what a victim adds to the history.
func (q *times) event(c Candidate) limits.Event {
	return limits.Event{Preemptor: q.Request.Workload.ID, Victim: c.ID, At: q.Now, Class: limits.Class{
		PreemptingQueue: q.Queue.Name, PreemptedQueue: c.At.Name, Config: c.ByRule.Config, Rules: c.ByRule.Names,
	}}
}
