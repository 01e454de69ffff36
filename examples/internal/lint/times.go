package lint

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
)

// minRuntimes finds queues in which equals may be preempted after minAdmitDuration (KEP-8522),
// but are protected at least that long by their minimum runtime.
func minRuntimes(c *Cluster) []Finding {
	cohorts := map[string]*queue.Cohort{}
	for i := range c.State.Cohorts {
		cohorts[c.State.Cohorts[i].Name] = &c.State.Cohorts[i]
	}
	var found []Finding
	for i := range c.State.Queues {
		q := &c.State.Queues[i]
		after, ok := q.Preemption.MinAdmitDuration.Get()
		if !ok {
			continue
		}
		runtime, setBy := c.protection(q, cohorts)
		if runtime < after {
			continue
		}
		f := Finding{Place: placeOf("queue", q.Name),
			Problem: fmt.Sprintf("its minAdmitDuration lets equals yield after %v, but the minimum runtime of %s protects them for %v", after, setBy, runtime)}
		if id := c.runs(q.Name); id != "" {
			f.Example = fmt.Sprintf("%s yields to an equal after %v, not %v", id, max(runtime, after), after)
		}
		found = append(found, f)
	}
	return found
}

// protection returns how long workloads are protected against those of the own queue, and who
// sets it: the longer of protection and minimum runtime.
func (c *Cluster) protection(q *queue.Queue, cohorts map[string]*queue.Cohort) (runtime time.Duration, setBy string) {
	runtime, setBy = c.minRuntime(q, cohorts)
	if d := c.Config.Protection.Preempt; d > runtime {
		runtime, setBy = d, "the protection"
	}
	return runtime, setBy
}

// minRuntime returns the minimum runtime against workloads of the own queue, and who sets it.
func (c *Cluster) minRuntime(q *queue.Queue, cohorts map[string]*queue.Cohort) (runtime time.Duration, setBy string) {
	set := func(s minruntime.Settings, by string) bool {
		d, ok := s.Preempt.Get()
		if ok {
			runtime, setBy = d, by
		}
		return ok
	}
	if set(q.MinRuntime, placeOf("queue", q.Name)) {
		return runtime, setBy
	}
	for up := cohorts[q.Cohort]; up != nil; up = cohorts[up.Parent] {
		if set(up.MinRuntime, placeOf("cohort", up.Name)) {
			return runtime, setBy
		}
	}
	set(minruntime.Settings{Preempt: c.Config.MinRuntime.Preempt}, "the default")
	return runtime, setBy
}
