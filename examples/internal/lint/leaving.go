package lint

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/examples/internal/units"
)

// longTime is how long a workload may take to leave: longer than the grace of pods as a rule.
const longTime = time.Hour

// longLeaving finds workloads that were told to leave long ago and still hold quota: a pod that does not end, or a finalizer,
// keeps them.
func longLeaving(c *Cluster) []Finding {
	var found []Finding
	for i := range c.State.Admitted {
		w := &c.State.Admitted[i]
		since, known := c.LeavingSince[w.ID]
		if !w.Evicted || !known || c.Now.Sub(since) < longTime {
			continue
		}
		found = append(found, Finding{Place: fmt.Sprintf("workload %q", w.ID),
			Problem: fmt.Sprintf("it was told to leave %s ago and still holds quota of queue %s: see which of its pods does not end", units.Age(c.Now, since), w.Queue)})
	}
	return found
}
