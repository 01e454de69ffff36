package witness

import (
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// Package preemption, Flavors: "Requests without flavor are first assigned one, as in Kueue's flavor
// assigner as built."

// mode says how a request gets its quota in a flavor; a larger one is better.
type mode int

const (
	noFit mode = iota
	noCandidates
	byPreempting
	byReclaiming
	fitting
)

// verdict is a mode, and how far up the tree the request borrows.
type verdict struct {
	mode   mode
	height int
}

// assign chooses flavors: "for each pod set in turn, for each of its resource groups, the flavors are
// tried in order. The requests of earlier pod sets count, and requests that came with a flavor count
// before all others." It reports whether each group found one.
func (w *world) assign(at time.Time) bool {
	w.pending = w.request.Workload.Clone()
	used := map[column]int64{}
	for i := range w.pending.PodSets {
		p := &w.pending.PodSets[i]
		for _, a := range p.Requests {
			if a.Flavor != "" {
				used[a.FlavorResource()] = plus(used[a.FlavorResource()], p.Total(a.Amount))
			}
		}
	}
	for i := range w.pending.PodSets {
		if !w.leaveOut(i) {
			return false
		}
		for _, g := range w.own.queue.ResourceGroups() {
			if !w.assignGroup(i, g, used, at) {
				return false
			}
		}
	}
	return true
}

// leaveOut: "a request of zero for a resource that the queue lacks is left out"; one of more fits in no
// flavor.
func (w *world) leaveOut(podSet int) (ok bool) {
	p := &w.pending.PodSets[podSet]
	ok = true
	known := map[string]bool{}
	for _, e := range w.own.queue.Quotas {
		known[e.Resource] = true
	}
	kept := p.Requests[:0]
	for _, a := range p.Requests {
		lacks := a.Flavor == "" && !known[a.Resource]
		ok = ok && (!lacks || p.Total(a.Amount) == 0)
		if !lacks {
			kept = append(kept, a)
		}
	}
	p.Requests = kept
	return ok
}

// assignGroup: "A flavor without candidates is skipped. A flavor that needs preemption or borrowing is
// skipped if the queue's FlavorFungibility says so. The first flavor that is not skipped is assigned; if
// all are skipped, the best."
func (w *world) assignGroup(podSet int, g queue.ResourceGroup, used map[column]int64, at time.Time) bool {
	p := &w.pending.PodSets[podSet]
	amounts := map[string]int64{}
	for _, a := range p.Requests {
		if a.Flavor == "" && slices.Contains(g.Resources, a.Resource) {
			amounts[a.Resource] = p.Total(a.Amount)
		}
	}
	if len(amounts) == 0 {
		return true
	}
	best, chosen := verdict{}, ""
	for _, flavor := range g.Flavors {
		v := w.judge(flavor, amounts, used, at)
		if Mismatch(w.flavors, w.own.queue, flavor, p.NodeConstraints) != nil {
			v = verdict{mode: noFit}
		}
		if w.prefers(v, best) || !w.skips(v) {
			best, chosen = v, flavor
		}
		if !w.skips(v) {
			break
		}
	}
	for i := range p.Requests {
		if a := &p.Requests[i]; chosen != "" && a.Flavor == "" && slices.Contains(g.Resources, a.Resource) {
			a.Flavor = chosen
			used[a.FlavorResource()] = plus(used[a.FlavorResource()], amounts[a.Resource])
		}
	}
	return chosen != ""
}

// judge: "A flavor is judged by its worst resource."
func (w *world) judge(flavor string, amounts map[string]int64, used map[column]int64, at time.Time) verdict {
	worst := verdict{mode: fitting}
	for _, resource := range slices.Sorted(maps.Keys(amounts)) {
		fr := column{Flavor: flavor, Resource: resource}
		if v := w.judgeOne(fr, plus(used[fr], amounts[resource]), at); w.prefers(worst, v) || v.mode == noFit {
			worst = v
		}
	}
	return worst
}

// judgeOne: "In a flavor each resource alone
//
//  1. does not fit if it is more than the queue could use with nothing running;
//  2. fits if it is no more than what is available, at the height of the lowest subtree whose quota
//     holds it;
//  3. is forecast if it is within the queue's nominal quota, or a subtree smaller than the whole tree has
//     quota for it, or the queue may preempt while borrowing;
//  4. does not fit otherwise, nor, but for a request of zero, in a flavor for which the queue has no quota."
func (w *world) judgeOne(fr column, amount int64, at time.Time) verdict {
	entry, has := w.own.quotas[fr]
	height, below := w.own.heightFor(fr, amount), w.own.heldBelowTheRoot(fr, amount)
	switch {
	case !has && amount == 0: // "no flavor without an entry is assigned, but to a request of zero"
		return verdict{fitting, 0}
	case !has || amount > w.own.potential(fr):
		return verdict{noFit, 0}
	case amount <= max(0, w.own.available(fr)):
		return verdict{fitting, height}
	case w.request.Workload.NeverPreempts: // "only flavors in which it fits are considered"
		return verdict{noFit, 0}
	case amount <= entry.Nominal || below || w.preemptsWhileBorrowing():
		return w.forecast(fr, amount, at)
	}
	return verdict{noFit, 0}
}

// heldBelowTheRoot reports whether a subtree smaller than the whole tree has quota for an amount.
func (n *node) heldBelowTheRoot(fr column, amount int64) bool {
	for ; n.parent != nil; n = n.parent {
		if plus(n.usage(fr), amount) <= n.subtreeQuota(fr) {
			return true
		}
		amount = minus(amount, n.idle(fr))
	}
	return false
}

// preemptsWhileBorrowing: a policy permits it, in fair sharing each that reclaims. "borrowWithinCohort
// counts for nothing in a queue that never reclaims."
func (w *world) preemptsWhileBorrowing() bool {
	p := w.own.queue.Preemption
	return p.ReclaimWithinCohort != queue.Never && (p.BorrowWithinCohort.Policy != queue.Never || w.config.Sharing != preemption.Classical)
}

// forecast "says what would yield: nothing, workloads of the own queue, or workloads of other queues
// only", for one resource alone. What is leaving counts as in a decision.
func (w *world) forecast(fr column, amount int64, at time.Time) verdict {
	w.asked, w.needs = map[column]int64{fr: amount}, []column{fr}
	v := verdict{noCandidates, w.own.heightFor(fr, amount)}
	victims, soon := w.orLeaving(w.search(at), at)
	if len(victims) == 0 && !soon {
		return v
	}
	for _, c := range victims {
		c.remove()
	}
	v = verdict{byReclaiming, w.own.heightFor(fr, amount)}
	restore(victims)
	if slices.ContainsFunc(victims, func(c *candidate) bool { return c.of.home == w.own }) {
		v.mode = byPreempting
	}
	return v
}

// prefers reports whether a verdict is better: by how others yield, then by how far the request borrows;
// with PreemptionOverBorrowing the other way round.
func (w *world) prefers(a, b verdict) bool {
	switch {
	case a.mode == noFit || b.mode == noFit, (a.mode == noCandidates) != (b.mode == noCandidates):
		return a.mode > b.mode
	case w.own.queue.FlavorFungibility.Preference == queue.PreemptionOverBorrowing && a.height != b.height:
		return a.height < b.height
	case a.mode != b.mode:
		return a.mode > b.mode
	}
	return a.height < b.height
}

// skips: WhenCanPreempt "applies to a flavor in which others would have to yield", WhenCanBorrow "to a
// flavor in which the request takes the queue over its nominal quota".
func (w *world) skips(v verdict) bool {
	f := w.own.queue.FlavorFungibility
	yields := v.mode == byPreempting || v.mode == byReclaiming
	return v.mode == noFit || v.mode == noCandidates ||
		yields && !f.MayStopPreempting() || v.height > 0 && !f.MayStopBorrowing()
}
