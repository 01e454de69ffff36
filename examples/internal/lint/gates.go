package lint

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
)

// gates finds gates that hold a workload back for longer than a timeout of their orchestrator,
// and that are open for nobody. A workload that the gates do not hold back is not a finding.
func gates(c *Cluster) []Finding {
	opened := map[string]bool{}
	see := func(g *gate.Gates) {
		for _, s := range g.States {
			if s.Position == gate.Open {
				opened[s.Name] = true
			}
		}
	}
	for i := range c.Pending {
		see(&c.Pending[i].Gates)
	}
	for i := range c.State.Admitted {
		see(&c.State.Admitted[i].Gates)
	}
	var found []Finding
	left, unasked := maxLooks, 0
	by := map[string]preemption.Decision{} // of each shape
	for i := range c.Pending {
		w := &c.Pending[i]
		waits := c.Now.Sub(w.Queued)
		if len(w.Gates.Names) == 0 || w.Queued.IsZero() || waits <= gate.DefaultTimeout {
			continue
		}
		text := c.shape(w)
		d, known := by[text]
		if !known || text == "" {
			if left <= 0 && !c.Unlimited || c.ended() != "" {
				unasked++
				continue
			}
			var looked int
			d, looked, _ = c.preemptor.DecideCounting(c.Snapshot, preemption.Request{Workload: *w, Now: c.Now})
			by[text] = d
			left -= looked
		}
		if d.Outcome != preemption.Gated {
			continue
		}
		for _, name := range w.Gates.Names {
			if !opened[name] && !slices.ContainsFunc(w.Gates.States, func(s gate.State) bool { return s.Name == name && s.Position == gate.Open }) {
				found = append(found, Finding{Place: placeOf("workload", w.ID),
					Problem: fmt.Sprintf("its gate %s is closed since it was queued, %s ago, and is open for no workload", name, duration.HumanDuration(waits)),
					Example: fmt.Sprintf("with open gates it would preempt %s", d.Victims[0].Workload)})
			}
		}
	}
	if unasked > 0 {
		c.unfinished(fmt.Sprintf("the gates of %s were not looked at", workloads(unasked)), maxLooks)
	}
	return found
}

// weights finds weights of zero where shares decide.
func weights(c *Cluster) []Finding {
	if !c.fair() {
		return nil
	}
	var found []Finding
	add := func(kind, name string) {
		f := Finding{Place: placeOf(kind, name), Problem: "its weight is 0: as soon as it borrows anything its share is infinite, and it yields before all others"}
		share, _ := c.Snapshot.QueueShare(name)
		if kind == "cohort" {
			share, _ = c.Snapshot.CohortShare(name)
		}
		if share.Borrows {
			f.Example = fmt.Sprintf("it borrows %s now", share.DominantResource)
		}
		found = append(found, f)
	}
	for i := range c.State.Queues {
		if weight, ok := c.State.Queues[i].FairWeight.Get(); ok && weight == 0 {
			add("queue", c.State.Queues[i].Name)
		}
	}
	for i := range c.State.Cohorts {
		if weight, ok := c.State.Cohorts[i].FairWeight.Get(); ok && weight == 0 {
			add("cohort", c.State.Cohorts[i].Name)
		}
	}
	return found
}
