package witness

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// [preemption.Stable], and docs/stability.md: nominal quota, then priority, then share.

// stablePermits reports whether points 1 to 3 permit a set of victims.
func stablePermits(w *world, set []*candidate) bool { return stableKeeps(w, set) == nil }

// stableKeeps returns the first of a set whom points 1 to 3 keep. "In a cohort tree in which no queue has
// reclaimWithinCohort Any points 1 and 2 are not needed and refuse no victim."
func stableKeeps(w *world, set []*candidate) *candidate {
	if !stableCounts(w) {
		return nil
	}
	borrows := w.own.isBorrower(nil, asks(w))
	for _, c := range set {
		if c.expired || c.leaving { // "yields as ever"
			continue
		}
		if !borrows && !yieldsWithin(w, c) || borrows && !yieldsToBorrower(w, c, set) {
			return c
		}
	}
	return nil
}

func stableCounts(w *world) bool {
	anybody := func(n *node) bool {
		return n.queue != nil && n.queue.Preemption.ReclaimWithinCohort == queue.Any
	}
	return w.config.Sharing == preemption.Stable && w.own.parent != nil && slices.ContainsFunc(w.own.root().under(), anybody)
}

// stableKeepsAnyway: "Whom these points keep whatever the shares are is no candidate."
func (w *world) stableKeepsAnyway(c *candidate) bool {
	if !stableCounts(w) || c.expired || c.leaving {
		return false
	}
	if !w.own.isBorrower(nil, asks(w)) {
		return !yieldsWithin(w, c)
	}
	priority := cmp.Compare(c.of.EffectivePriority(), w.request.Workload.EffectivePriority())
	return !c.of.home.isBorrower(c.of, nil) || priority > 0 || priority == 0 && c.of.home == w.own && !ranksBelow(w, c)
}

// stableRefuses reports whether a candidate may not go with the victims so far: "candidates are refused" one by one, for
// a set that is permitted has only parts that are.
func (f *fairSearch) stableRefuses(c *candidate) bool {
	if f.config.Sharing != preemption.Stable {
		return false
	}
	restore(f.victims)
	f.own.asking = nil
	refused := !stablePermits(f.world, append(slices.Clone(f.victims), c))
	f.own.asking = f.asked
	for _, v := range f.victims {
		v.remove()
	}
	return refused
}

// yieldsWithin: "A preemptor that would not be a borrower preempts borrowers, and others of lower priority or of
// equal priority and a later timestamp."
func yieldsWithin(w *world, c *candidate) bool {
	return c.of.home.isBorrower(c.of, nil) || ranksBelow(w, c)
}

// yieldsToBorrower: "One that would be preempts only borrowers: of lower priority; and of equal priority, if the
// shares of the queues permit it when only workloads of at least this priority count."
func yieldsToBorrower(w *world, c *candidate, set []*candidate) bool {
	priority := cmp.Compare(c.of.EffectivePriority(), w.request.Workload.EffectivePriority())
	switch {
	case !c.of.home.isBorrower(c.of, nil) || priority > 0:
		return false
	case priority < 0:
		return true
	}
	before, after, theirs := sharesAmongHigher(w, c.of.home, set)
	if c.of.home == w.own {
		// "In the own queue, equals of lower rank yield if the share of the queue does not become smaller."
		return ranksBelow(w, c) && after.compare(before) >= 0
	}
	// "Its queue's share is then at most that of the victim's queue without the victims, and larger than it was."
	return after.compare(before) > 0 && after.compare(theirs) <= 0
}

// sharesAmongHigher gives the shares of the preemptor's queue, before and after, and of another queue after, where
// "only workloads of at least this priority count". Who yields in any case counts as if he stayed, and so do the replicas of a
// victim that leave already. What of a workload yields before the rest goes with it once.
func sharesAmongHigher(w *world, other *node, set []*candidate) (before, after, theirs share) {
	var lower, victims []*candidate
	for _, n := range w.queues {
		for _, r := range n.running {
			if r.EffectivePriority() < w.request.Workload.EffectivePriority() {
				lower = append(lower, &candidate{of: r, podSet: whole})
			}
		}
	}
	for _, c := range set {
		isWhole := func(o *candidate) bool { return o.of == c.of && o.podSet == whole }
		if !c.expired && !c.leaving && !slices.ContainsFunc(lower, isWhole) && (isWhole(c) || !slices.ContainsFunc(set, isWhole)) {
			victims = append(victims, c.withoutLeaving()...)
		}
	}
	for _, c := range lower {
		c.remove()
	}
	before = w.share(w.own)
	for _, c := range victims {
		c.remove()
	}
	w.own.asking = w.asked
	after, theirs = w.share(w.own), w.share(other)
	w.own.asking = nil
	restore(victims)
	restore(lower)
	return before, after, theirs
}

// withoutLeaving is what yields with a candidate, but for what of it leaves already.
func (c *candidate) withoutLeaving() (list []*candidate) {
	if c.podSet != whole {
		return []*candidate{c}
	}
	for i, p := range c.of.PodSets {
		list = append(list, &candidate{of: c.of, podSet: i, replicas: p.Count - p.Terminating})
	}
	return list
}

// quotaColumns are those of which the cohort tree has a quota, and those of the request.
func quotaColumns(w *world) []column {
	set := maps.Clone(w.own.root().columns())
	for fr := range w.asked {
		set[fr] = true
	}
	return slices.Collect(maps.Keys(set))
}

// ranksBelow: "by effective priority, at equal priority the earlier queue-order timestamp first".
func ranksBelow(w *world, c *candidate) bool {
	theirs, ours := c.of.EffectivePriority(), w.request.Workload.EffectivePriority()
	return theirs < ours || theirs == ours && isNewer(w, c.of)
}

// claim is a workload, what of it stays, or replicas that leave: these "are as an evicted workload".
type claim struct {
	*workload.Workload
	of    *running // nil: the request
	takes []quota.Amount
}

// asks is the claim of the request: in a forecast on one resource alone.
func asks(w *world) *claim {
	c := &claim{Workload: &w.pending}
	for fr, amount := range w.asked {
		c.takes = append(c.takes, quota.Amount{Flavor: fr.Flavor, Resource: fr.Resource, Amount: amount})
	}
	return c
}

// claims are those of a workload: what stays comes first.
func (r *running) claims() []*claim {
	of := func(count func(p *workload.PodSet) int64) *claim {
		one := r.Workload.Clone()
		for i := range one.PodSets {
			one.PodSets[i].Count = count(&one.PodSets[i])
		}
		return &claim{&r.Workload, r, one.Usage()}
	}
	list := []*claim{of(func(p *workload.PodSet) int64 { return p.Count - p.Terminating })}
	for i, p := range r.PodSets {
		if p.Terminating > 0 {
			name := r.PodSets[i].Name
			list = append(list, of(func(p *workload.PodSet) int64 {
				if p.Name == name {
					return p.Terminating
				}
				return 0
			}))
		}
	}
	return list
}

// isBorrower: "A workload is a borrower if it exceeds the nominal quota of the queue, in any column that it uses,
// after the earlier workloads that are no borrowers. What the queue reserves does not count." Earlier: "by effective
// priority, at equal priority the earlier queue-order timestamp first, then those that run before the preemptor". It asks
// about a workload that runs, or about the request, which comes besides them.
func (n *node) isBorrower(who *running, besides *claim) bool {
	var list []*claim
	for _, r := range n.running {
		list = append(list, r.claims()...)
	}
	slices.SortStableFunc(list, func(a, b *claim) int { return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID)) })
	if besides != nil {
		list = append(list, besides)
	}
	slices.SortStableFunc(list, func(a, b *claim) int {
		return cmp.Or(cmp.Compare(b.EffectivePriority(), a.EffectivePriority()), workload.CompareQueued(a.Queued, b.Queued))
	})
	within := map[column]int64{}
	for _, one := range list {
		exceeds := false
		for _, a := range one.takes {
			fr := a.FlavorResource()
			exceeds = exceeds || a.Amount > 0 && plus(within[fr], a.Amount) > n.quotas[fr].Nominal
		}
		if one.of == who {
			return exceeds
		}
		for _, a := range one.takes {
			if !exceeds {
				within[a.FlavorResource()] = plus(within[a.FlavorResource()], a.Amount)
			}
		}
	}
	return false
}
