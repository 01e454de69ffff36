package witness

import (
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
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

// verdict is a mode, how far up the tree the request borrows, and why it does not fit.
type verdict struct {
	mode   mode
	height int
	why    preemption.SkipReason
}

// trial is a flavor, with the verdict on its worst resource, and on each.
type trial struct {
	verdict
	flavor, resource string
	each             []preemption.AssignedResource
	mismatch         *preemption.Mismatch
}

// assign chooses flavors: "for each pod set in turn, for each of its resource groups, the flavors are
// tried in order. The requests of earlier pod sets count, and requests that came with a flavor count
// before all others." It reports whether each group found one.
func (w *world) assign(at time.Time) bool {
	w.pending, w.assignment = w.request.Workload.Clone(), nil
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
		if !leaveOut(w, i) {
			return false
		}
		for _, g := range w.own.queue.ResourceGroups() {
			if !assignGroup(w, i, g, used, at) {
				return false
			}
		}
	}
	return true
}

// leaveOut: "a request of zero for a resource that the queue lacks is left out"; one of more fits in no
// flavor.
func leaveOut(w *world, podSet int) (ok bool) {
	p := &w.pending.PodSets[podSet]
	var unknown []string
	kept := p.Requests[:0]
	for _, a := range p.Requests {
		lacks := a.Flavor == "" && !slices.ContainsFunc(w.own.queue.Quotas, func(e quota.Quota) bool { return e.Resource == a.Resource })
		if !lacks {
			kept = append(kept, a)
		} else if p.Total(a.Amount) > 0 {
			unknown = append(unknown, a.Resource)
		}
	}
	if p.Requests = kept; len(unknown) > 0 {
		slices.Sort(unknown)
		choose(w, p.Name, unknown, nil, 0)
	}
	return len(unknown) == 0
}

// assignGroup: "A flavor without candidates is skipped. A flavor that needs preemption or borrowing is
// skipped if the queue's FlavorFungibility says so."
func assignGroup(w *world, podSet int, g queue.ResourceGroup, used map[column]int64, at time.Time) bool {
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
	names := slices.Sorted(maps.Keys(amounts))
	flavors := goOn(w, p.Name, g, names)
	var tried []trial
	for len(tried) < len(flavors) && (len(tried) == 0 || skips(w, tried[len(tried)-1].verdict) != 0) {
		t := trial{flavor: flavors[len(tried)], resource: names[0]}
		if t.mismatch = Mismatch(w.flavors, w.own.queue, t.flavor, p.NodeConstraints); t.mismatch != nil {
			t.why = preemption.NotEligible
		} else {
			w.judge(&t, names, amounts, used, at)
		}
		tried = append(tried, t)
	}
	chosen := choose(w, p.Name, names, tried, len(flavors)-len(tried)).flavor
	for i := range p.Requests {
		if a := &p.Requests[i]; chosen != "" && a.Flavor == "" && slices.Contains(g.Resources, a.Resource) {
			a.Flavor = chosen
			used[a.FlavorResource()] = plus(used[a.FlavorResource()], amounts[a.Resource])
		}
	}
	return chosen != ""
}

// judge: "A flavor is judged by its worst resource": the first that does not fit, else the first of the worst.
func (w *world) judge(t *trial, names []string, amounts map[string]int64, used map[column]int64, at time.Time) {
	for i, resource := range names {
		fr := column{Flavor: t.flavor, Resource: resource}
		v := judgeOne(w, fr, plus(used[fr], amounts[resource]), at)
		if t.each = append(t.each, v.of(resource)); i == 0 || prefers(w, t.verdict, v) {
			t.verdict, t.resource = v, resource
		}
		if v.mode == noFit {
			return
		}
	}
}

// judgeOne: "In a flavor each resource alone
//
//  1. does not fit if it is more than the queue could use with nothing running;
//  2. fits if it is no more than what is available, at the height of the lowest subtree whose quota
//     holds it;
//  3. is forecast if it is within the queue's nominal quota, or a subtree smaller than the whole tree has
//     quota for it, or the queue may preempt while borrowing;
//  4. does not fit otherwise, nor, but for a request of zero, in a flavor for which the queue has no quota."
func judgeOne(w *world, fr column, amount int64, at time.Time) verdict {
	entry, has := w.own.quotas[fr]
	height, below := w.own.heightFor(fr, amount), w.own.heldBelowTheRoot(fr, amount)
	switch {
	case !has && amount == 0: // "no flavor without an entry is assigned, but to a request of zero"
		return verdict{mode: fitting}
	case !has:
		return verdict{why: preemption.NoQuota}
	case amount > w.own.potential(fr):
		return verdict{why: preemption.ExceedsMaxQuota}
	case amount <= max(0, w.own.available(fr)):
		return verdict{mode: fitting, height: height}
	case w.request.Workload.NeverPreempts: // "only flavors in which it fits are considered"
		return verdict{why: preemption.NeverPreempts}
	case amount <= entry.Nominal || below || preemptsWhileBorrowing(w):
		return forecast(w, fr, amount, at)
	}
	return verdict{why: preemption.NotReclaimable}
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
// counts for nothing in a queue that never reclaims." By rules "the request may borrow".
func preemptsWhileBorrowing(w *world) bool {
	p := w.own.queue.Preemption
	return w.rules != nil || p.ReclaimWithinCohort != queue.Never && (p.BorrowWithinCohort.Policy != queue.Never || w.config.Sharing != preemption.Classical)
}

// forecast "says what would yield: nothing, workloads of the own queue, or workloads of other queues
// only", for one resource alone. What is leaving counts as in a decision. "It does not read the Room".
func forecast(w *world, fr column, amount int64, at time.Time) verdict {
	room := w.request.Room
	defer func() { w.request.Room = room }()
	w.request.Room = nil
	w.asked, w.needs = map[column]int64{fr: amount}, []column{fr}
	v := verdict{mode: noCandidates, height: w.own.heightFor(fr, amount)}
	victims, _, _ := w.yielding(at)
	if len(victims) == 0 {
		return v
	}
	for _, c := range victims {
		c.remove()
	}
	v = verdict{mode: byReclaiming, height: w.own.heightFor(fr, amount)}
	restore(victims)
	if slices.ContainsFunc(victims, func(c *candidate) bool { return c.of.home == w.own }) {
		v.mode = byPreempting
	}
	return v
}

// prefers reports whether a verdict is better: by how others yield, then by how far the request borrows;
// with PreemptionOverBorrowing the other way round.
func prefers(w *world, a, b verdict) bool {
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

// skips says why the next flavor is tried, too; zero: it is not. WhenCanPreempt "applies to a flavor in which others would
// have to yield", WhenCanBorrow "to a flavor in which the request takes the queue over its nominal quota".
func skips(w *world, v verdict) preemption.SkipReason {
	f := w.own.queue.FlavorFungibility
	switch {
	case v.mode == noCandidates:
		return preemption.NoCandidates
	case (v.mode == byPreempting || v.mode == byReclaiming) && !f.MayStopPreempting():
		return preemption.WouldPreempt
	case v.mode != noFit && v.height > 0 && !f.MayStopBorrowing():
		return preemption.WouldBorrow
	}
	return v.why
}
