package placement_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// What must hold of each answer in a life.

// hasRoom: what starts uses no more than is there, with those on the node that have not left.
func (l *life) hasRoom(d placement.Decision) {
	st := l.snapshot.State()
	for _, n := range d.Nominations {
		started, _ := l.snapshot.Find(n.Pod)
		capacity := st.Nodes[slices.IndexFunc(st.Nodes, func(o workload.Node) bool { return o.Name == n.Node })].Capacity
		for resource, asked := range started.Requests {
			used := int64(0)
			for _, p := range st.Pods {
				if p.Node == n.Node {
					used += p.Requests[resource]
				}
			}
			if asked > 0 && used > capacity[resource] {
				l.broken("%s starts on %s, which has %d %s and not %d", n.Pod, n.Node, capacity[resource], resource, used)
			}
		}
	}
}

// retries: before RetryAt the answer is to wait for it, and at RetryAt the wait is over.
func (l *life) retries(w *waiter, d placement.Decision) {
	l.ends["retries"]++
	if d.Outcome != preemption.Wait || !d.RetryAt.After(l.now) {
		l.broken("%v, and retry at %v", d.Outcome, d.RetryAt)
	}
	between := l.now.Add(time.Duration(rapid.Int64Range(0, int64(d.RetryAt.Sub(l.now))-1).Draw(l.T, "later")))
	for _, at := range []time.Time{between, d.RetryAt.Add(-1)} {
		if e := l.decide(w, at); e.Outcome != preemption.Wait || !e.RetryAt.Equal(d.RetryAt) {
			l.broken("before RetryAt, at %v, the answer is %v, RetryAt %v", at, e.Outcome, e.RetryAt)
		}
	}
	if e := l.decide(w, d.RetryAt); !e.Outcome.Succeeds() {
		l.broken("RetryAt has come, and the answer is %v", e.Outcome)
	}
}

// tells holds the victims to what they were told before, and to the budgets, which they eat.
func (l *life) tells(d placement.Decision) {
	over := false
	var edits []placement.Edit
	for b := range l.snapshot.Budgets() {
		n := int64(0)
		for _, v := range d.Victims {
			for _, id := range v.Pods {
				if p, _ := l.snapshot.Find(id); !p.Terminating && b.Charges(&p) {
					n++
					b.Disrupted = append(b.Disrupted, id)
				}
			}
		}
		over = over || n > b.Allowed
		b.Allowed = max(0, b.Allowed-n)
		edits = append(edits, placement.SetBudget(b))
	}
	for _, v := range d.Victims {
		for _, id := range v.Pods {
			if p, runs := l.snapshot.Find(id); !runs || p.Terminating && l.config.Mode == placement.ModeDesign {
				l.broken("%s is told, which runs: %v, or told twice", id, runs)
			}
		}
	}
	if over {
		l.ends["a budget is overdrawn"]++
		if d.Violations == 0 || l.config.Budgets == placement.Hard {
			l.broken("a budget is overdrawn, and %d violations are told", d.Violations)
		}
	}
	l.change(edits...)
}
