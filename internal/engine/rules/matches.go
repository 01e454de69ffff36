package rules

import (
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/rules"
)

// Matches calls yield with the selectors that accepted a victim when rules took it, tier by tier,
// first those of the tier that took it. Tiers with bad selectors are left out.
func (t *Taker) Matches(now int64, v *search.Victim, yield func(by *rules.Tier, trigger rules.Trigger, m rules.Match)) {
	how := t.taken[v.Workload]
	for i := how.tier; i < tierCount; i++ {
		trigger := rules.Triggers()[i]
		by := t.rulesOf(i)
		if by == nil || !by.Serves() {
			continue
		}
		t.fill(v.Workload)
		since := t.given[i]
		if now != t.now { // as a request would be asked then, that knows what was observed before
			since = t.since[i]
		}
		if since == instant.Unset {
			since = now
		}
		moment := rules.Moment{Now: instant.Time(now), Since: instant.Time(since), Quota: how.held}
		t.matches = by.AppendSelected(t.matches[:0], &t.one, moment)
		for _, m := range t.matches {
			yield(by, trigger, m)
		}
	}
}

// fill copies what selectors read of a workload.
func (t *Taker) fill(w *cluster.Workload) {
	f := &w.Facts
	t.one.ID, t.one.Queue, t.one.LocalQueue = f.ID, f.Queue(), f.LocalQueue()
	t.one.Labels, t.one.PriorityClass = f.Labels(), f.PriorityClass()
	t.one.Priority, t.one.PriorityBoost = w.BasePriority()
	t.one.ReservedAt, t.one.Created = instant.Time(w.Reserved), instant.Time(f.Created())
}
