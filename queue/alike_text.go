package queue

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// alike returns a text that is equal for two workloads of a queue unless a decision could
// tell them apart. It encodes the whole workload without the fields cleared here, so that a
// field added later counts.
func alike(w *workload.Workload) string {
	c := w.Clone()
	c.ID, c.UID = "", ""       // only a tie breaker among workloads that run
	c.Queue = ""               // workloads of different queues are never compared
	c.LocalQueue = ""          // read only by rules: see preemption.Snapshot.RulesReadMore
	c.Queued = time.Time{}     // workloads that are alike are ordered by it; a later one may preempt fewer
	c.Created = time.Time{}    // read only by rules, too
	c.ReservedAt = time.Time{} // has no meaning for a workload that waits
	c.AdmittedAt = time.Time{} // has no meaning either
	c.Evicted = false          // has no meaning either
	c.Loss = workload.Loss{}   // has no meaning either
	c.Gates = gate.Gates{}     // decisions read only whether all are open
	if w.Gates.AnyClosed() {
		c.Gates.Names = []string{"closed"}
	}
	for i := range c.PodSets {
		p := &c.PodSets[i]
		p.Name = ""
		slices.SortFunc(p.Requests, func(a, b quota.Amount) int { return a.FlavorResource().Compare(b.FlavorResource()) })
	}
	text, err := json.Marshal(&c)
	if err != nil {
		return w.ID // alike to no other workload
	}
	return string(text)
}
