package twin

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// shortages lists what the request lacks without the removed workloads. The node is the one
// whose quota or limit is exceeded.
func (d *decision) shortages() (list []preemption.Shortage) {
	for _, a := range d.asked {
		fr := a.FlavorResource()
		available, bound := d.availableBy(d.queue, fr)
		if over := quota.Sub(quota.Add(d.usage(d.queue, fr), a.Amount), d.entry(d.queue, fr).Nominal); a.Amount <= available {
			preempts := !d.request.Workload.NeverPreempts // else it may borrow
			if preempts && d.config.PreemptWithinNominal && slices.Contains(d.needed, fr) && over > 0 {
				list = append(list, preemption.Shortage{FlavorResource: fr, Missing: over, PotentialAvailable: d.potential(d.queue, fr)})
			}
			continue
		}
		sh := preemption.Shortage{FlavorResource: fr, Missing: quota.Sub(a.Amount, available), PotentialAvailable: d.potential(d.queue, fr)}
		if bound.kind == "cohort" {
			sh.Cohort = bound.name
		}
		list = append(list, sh)
	}
	return list
}

// blockers lists the blockers, with nobody removed: the own queue, then at each level upwards
// the queues under its cohort before its child cohorts, by name. Queues above the highest
// node that sets the limit could not help. A request that could never fit has no blockers.
func (d *decision) blockers(short []preemption.Shortage) []preemption.Blocker {
	d.setGone(nil)
	b := blocking{decision: d}
	top := d.queue
	for _, sh := range short {
		b.short = append(b.short, sh.FlavorResource)
		if n := cohort(sh.Cohort); n != (node{}) && (top == d.queue || len(d.ancestors(n)) < len(d.ancestors(top))) {
			top = n
		}
		for _, a := range d.asked {
			if a.FlavorResource() == sh.FlavorResource && a.Amount > sh.PotentialAvailable {
				return nil
			}
		}
	}
	if len(short) == 0 {
		return nil
	}
	b.queueOf(d.queue, level{})
	if top != d.queue {
		for _, l := range d.levels() {
			b.under(l.lca, l)
			if l.lca == top {
				break
			}
		}
	}
	most := d.config.MaxBlockers
	if most == 0 {
		most = 4
	}
	return b.list[:min(most, len(b.list))]
}

// blocking collects the blockers.
type blocking struct {
	*decision
	short []quota.FlavorResource
	list  []preemption.Blocker
}

func (b *blocking) holds(n node) bool {
	return slices.ContainsFunc(b.short, func(fr quota.FlavorResource) bool { return b.usage(n, fr) > 0 })
}

func (b *blocking) under(c node, l level) {
	for _, n := range b.children(c) {
		switch {
		case n == l.passed || !b.holds(n):
		case n.kind == "queue":
			b.queueOf(n, l)
		case b.config.Sharing != preemption.Fair && b.within(n, b.needed):
			b.list = append(b.list, preemption.Blocker{Rule: preemption.RuleWithinNominal, Cohort: n.name})
		default:
			b.under(n, l)
		}
	}
}

// queueOf adds the first rule that keeps a workload of the queue, and the first workload that
// it keeps. Workloads that only time or a guard keeps come first.
func (b *blocking) queueOf(n node, l level) {
	if !b.holds(n) {
		return
	}
	own, fair := n == b.queue, b.config.Sharing == preemption.Fair
	if !own && b.within(n, b.needed) {
		b.list = append(b.list, preemption.Blocker{Rule: preemption.RuleWithinNominal, Queue: n.name})
		return
	}
	if b.inactive(n) {
		b.list = append(b.list, preemption.Blocker{Rule: preemption.RuleQueueInactive, Queue: n.name})
		return
	}
	permitted := func(w workload.Workload) bool {
		if own {
			_, may := b.ownVerdict(w)
			return may
		}
		return b.ofPriority(b.policy.ReclaimWithinCohort, &w)
	}
	refusing := preemption.RuleReclaimWithinCohort
	if own {
		refusing = preemption.RuleWithinClusterQueue
	}
	rules := []struct {
		rule preemption.Rule
		of   func(w workload.Workload) bool
	}{
		{0, func(w workload.Workload) bool { return permitted(w) && b.keptBy(w).Rule != 0 }},
		{refusing, func(w workload.Workload) bool { return !permitted(w) }},
		{preemption.RuleBorrowWithinCohort, func(w workload.Workload) bool {
			return !own && !l.advantage && !b.config.PreemptWithinNominal && !b.permittedWhileBorrowing(&w)
		}},
		{preemption.RuleFairShare, func(w workload.Workload) bool {
			return fair && (!own || permitted(w) && (b.refuses(&w) || !b.keepsShares(nil, candidate{w: w, podSet: -1})))
		}},
	}
	users := b.users(n)
	for _, r := range rules {
		i := slices.IndexFunc(users, r.of)
		if i < 0 {
			continue
		}
		w := users[i]
		blocker := preemption.Blocker{Rule: r.rule}
		if r.rule == 0 {
			blocker = b.keptBy(w)
		}
		blocker.Queue, blocker.Workload = n.name, idOf(w.ID)
		if least, timed := b.minAdmit(); r.rule == preemption.RuleWithinClusterQueue && timed && !w.ReservedAt.IsZero() &&
			importance(&w) == importance(&b.request.Workload) {
			blocker.Until = w.ReservedAt.Add(least)
		}
		b.list = append(b.list, blocker)
		return
	}
}

// users lists the workloads of a queue that use what is short, in the order of candidates.
func (b *blocking) users(n node) (list []workload.Workload) {
	for _, w := range b.running {
		short := func(fr quota.FlavorResource) bool { return amountOf(&w, fr, nil) > 0 }
		if w.Queue == n.name && slices.ContainsFunc(b.short, short) {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(x, y workload.Workload) int {
		return cmp.Or(compareBool(y.Evicted, x.Evicted), b.compareCandidates(candidate{w: x, podSet: -1}, candidate{w: y, podSet: -1}))
	})
	return list
}

// keptBy returns the rule that keeps a workload now: that it never yields, else its minimum
// runtime, else the guards.
func (d *decision) keptBy(w workload.Workload) preemption.Blocker {
	if neverYields(&w) {
		return preemption.Blocker{Rule: preemption.RuleNeverYields}
	}
	if until, setBy, ok := d.guarantee(&w); ok && !d.request.Now.After(until) {
		return preemption.Blocker{Rule: preemption.RuleMinRuntime, Until: until, SetBy: setBy}
	}
	if until, guarded := d.guarded(w); guarded {
		return preemption.Blocker{Rule: preemption.RuleGuarded, Until: until}
	}
	return preemption.Blocker{}
}

// guarded reports whether a guard keeps a workload now, and the latest time that one gives;
// none where one always does.
func (d *decision) guarded(w workload.Workload) (until time.Time, guarded bool) {
	w = d.asGiven(w)
	for _, g := range d.config.Guards {
		if g.Verdict(w, d.request).Never() {
			return time.Time{}, true
		}
	}
	for _, g := range d.config.Guards {
		if t, timed := g.Verdict(w, d.request).Until(); timed && t.After(until) {
			until = t
		}
	}
	return until, !until.IsZero() && !d.request.Now.After(until)
}

// minAdmit returns the minAdmitDuration of the preemptor's queue.
func (d *decision) minAdmit() (least time.Duration, timed bool) {
	least, timed = d.policy.MinAdmitDuration.Get()
	return least, timed && !d.config.IgnoreMinAdmitDuration && d.policy.WithinClusterQueue == queue.LowerOrNewerEqualPriority
}

func nameOf(n node) string { return fmt.Sprintf("%s %q", n.kind, n.name) }
