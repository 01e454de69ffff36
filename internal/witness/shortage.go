package witness

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// [preemption.Decision.Shortage]: "what is missing, by flavor and resource".

// shortage "is computed without a set of workloads, the first of these sets without which the request
// still does not fit". Nobody yields to a request that never preempts, and in an inactive queue nothing is
// missing.
func (w *world) shortage(at time.Time) []preemption.Shortage {
	sets := [][]*candidate{
		permittedIn(w, at, w.allColumns()),
		permittedIn(w, at, w.needs),
		w.yieldingNow(true, at),
	}
	if rulesAlone(w) {
		sets = w.reachedByRules(at)
	}
	switch {
	case w.own.queue.Inactive, noRoom(w, at):
		return nil
	case w.request.Workload.NeverPreempts:
		return missing(w)
	}
	for _, set := range sets {
		for _, c := range set {
			c.remove()
		}
		missing := missing(w)
		restore(set)
		if len(missing) > 0 {
			return missing
		}
	}
	return nil
}

// permittedIn lists "all workloads, protected or not, whose priority the policies permit for a request that
// may borrow (borrowWithinCohort included)", in queues that borrow. In the own queue equals are of a priority
// that may be permitted, newer or not. Who never yields is not protected: of him only what leaves counts.
func permittedIn(w *world, at time.Time, columns []column) (list []*candidate) {
	for n, k := range w.classes() {
		if n.queue.Inactive || n != w.own && !(n.borrowsBelow(meet(w.own, n), w.allColumns()) && mayReclaimFrom(w, n, columns)) {
			continue
		}
		for _, r := range n.running {
			for _, c := range r.parts() {
				c.class, c.meet = k, meet(w.own, n)
				permitted := w.policyPermits(c, at) && !c.notWhile || n == w.own && mayBeNewer(w, r)
				if permitted && !c.surplus() && (!r.NeverYields || c.leaving) {
					list = append(list, c)
				}
			}
		}
	}
	return list
}

func mayBeNewer(w *world, r *running) bool {
	return w.own.queue.Preemption.WithinClusterQueue == queue.LowerOrNewerEqualPriority &&
		r.EffectivePriority() == w.request.Workload.EffectivePriority()
}

// allColumns are those with an entry in the tree, and those in which something is used or reserved there.
func (w *world) allColumns() (list []column) {
	for _, n := range w.own.root().under() {
		for fr := range n.quotas {
			list = append(list, fr)
		}
		for fr := range n.reserved {
			list = append(list, fr)
		}
		for _, r := range n.running {
			for _, a := range r.Usage() {
				list = append(list, a.FlavorResource())
			}
		}
	}
	return list
}

// yieldingNow lists "the workloads that may yield now, in fair sharing by the shares, too": all whom the
// search takes before it gives up.
func (w *world) yieldingNow(mayBorrow bool, at time.Time) (taken []*candidate) {
	if w.request.Workload.NeverPreempts {
		return nil
	}
	if w.config.Sharing != preemption.Classical {
		f := w.newFairSearch(at)
		f.run()
		restore(f.victims)
		return f.victims
	}
	for _, c := range w.inOrder(append(w.cohortCandidates(at), w.ownCandidates(at)...), at) {
		if !(mayBorrow && c.notWhile) && w.stillBorrows(c) && withinLimits(w, c, taken, at) {
			c.remove()
			taken = append(taken, c)
		}
	}
	restore(taken)
	return taken
}

// missing: "the least additional amount that would have to be free"; of what is free, what the nominal quota
// lacks.
func missing(w *world) (list []preemption.Shortage) {
	for fr, amount := range w.asked {
		free, cohort := w.own.narrowest(fr)
		if amount <= free && staysWithin(w, fr) {
			free, cohort = minus(w.own.quotas[fr].Nominal, w.own.usage(fr)), ""
		}
		if amount > free {
			list = append(list, preemption.Shortage{
				FlavorResource: fr, Missing: minus(amount, free), PotentialAvailable: w.own.potential(fr), Cohort: cohort,
			})
		}
	}
	slices.SortFunc(list, func(a, b preemption.Shortage) int {
		return cmp.Or(cmp.Compare(a.Flavor, b.Flavor), cmp.Compare(a.Resource, b.Resource))
	})
	return list
}

// narrowest returns what is available, and "the cohort whose quota or limit leaves least; of several the
// nearest. Empty: the preemptor's queue."
func (n *node) narrowest(fr column) (free int64, name string) {
	if n.queue == nil {
		name = n.name
	}
	if n.parent == nil {
		return n.available(fr), name
	}
	shared, above := n.parent.narrowest(fr)
	limit, set := n.quotas[fr].BorrowingLimit.Get()
	if most := plus(minus(n.lent(fr), n.passedOn(fr)), limit); set && most <= shared {
		return plus(n.idle(fr), most), name
	}
	return plus(n.idle(fr), shared), above
}
