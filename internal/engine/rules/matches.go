package rules

import (
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue/rules"
)

// Matches calls yield with the selectors that accepted a victim when rules took it, tier by tier,
// first those of the tier that took it. Tiers with bad selectors are left out.
func (t *Taker) Matches(now int64, v *right.Victim, yield func(by *selectors.Tier, trigger rules.Trigger, m rules.Match)) {
	how := &t.takings[v.Taking]
	for i := int(how.tier); i < tierCount; i++ {
		by := t.rulesOf(i)
		if by == nil || !by.Serves() {
			continue
		}
		list := t.matches[how.from:how.to]
		if i > int(how.tier) {
			list = t.acceptedBy(by, i, now, v.Workload, how.held)
		}
		for _, m := range list {
			yield(by, rules.Triggers()[i], m)
		}
	}
}

// acceptedBy returns the selectors of a tier that accept a workload taken before. They are valid until the
// next call.
func (t *Taker) acceptedBy(by *selectors.Tier, i int, now int64, w *cluster.Workload, held selectors.QuotaSet) []rules.Match {
	since := t.given[i]
	if now != t.now { // as a request would be asked then, that knows what was observed before
		since = t.since[i]
	}
	if since == instant.Unset {
		since = now
	}
	t.fill(w)
	t.others = by.AppendSelected(t.others[:0], &t.one, selectors.Moment{Now: instant.Time(now), Since: instant.Time(since), Quota: held})
	return t.others
}

// LastTaking returns the number of the last taking.
func (t *Taker) LastTaking() int32 { return int32(len(t.takings) - 1) }

// fill copies what selectors read of a workload.
func (t *Taker) fill(w *cluster.Workload) {
	f := &w.Facts
	t.one.ID, t.one.Queue, t.one.LocalQueue = f.ID, f.Queue(), f.LocalQueue()
	t.one.Labels, t.one.PriorityClass = f.Labels(), f.PriorityClass()
	t.one.Priority, t.one.PriorityBoost = w.BasePriority()
	t.one.ReservedAt, t.one.Created = instant.Time(w.Reserved), instant.Time(f.Created())
}
