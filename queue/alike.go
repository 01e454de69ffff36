package queue

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// alike is a text that is the same for two workloads of a queue unless a decision could
// tell them apart. It is made of the whole workload, less what is taken out here, so that a
// field that is added later counts.
func alike(w *workload.Workload) string {
	c := w.Clone()
	c.ID, c.UID = "", ""       // the name: it breaks ties between those that run
	c.Queue = ""               // those of another queue are never compared
	c.Queued = time.Time{}     // by it those that are alike are ordered: later ones may take less
	c.Created = time.Time{}    // read where Config.NewerByReservation says so: see cycle.Cycle.Alike
	c.ReservedAt = time.Time{} // means nothing for a workload that waits
	c.Evicted = false          // neither does this
	c.Gates = gate.Gates{}     // all open or not is all that is asked
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
		return w.ID // like nobody else
	}
	return string(text)
}
