package witness

import (
	"slices"
	"time"
)

// KEP-83, Preemption, steps 4 and 5, and the attempts of Kueue.

// classical looks for victims: the first attempt that makes the request fit counts.
func classical(w *world, at time.Time) []*candidate {
	list := append(w.cohortCandidates(at), w.ownCandidates(at)...)
	for _, mayBorrow := range w.attempts(list) {
		permitted := slices.DeleteFunc(slices.Clone(list), func(c *candidate) bool { return mayBorrow && c.notWhile })
		if victims := attempt(w, w.inOrder(permitted, at), mayBorrow, at); len(victims) > 0 {
			return victims
		}
	}
	return nil
}

// attempts says whether the queue may borrow in each attempt, as built in Kueue. Without candidates
// in other queues it may. Where it may not borrow while it reclaims, and holds its nominal quota
// already, only the own queue is left. Otherwise it is tried both ways. With PreemptWithinNominal the
// queue borrows nothing that needs preemption, and "other resources may borrow".
func (w *world) attempts(list []*candidate) []bool {
	others := slices.ContainsFunc(list, func(c *candidate) bool { return c.class != ofOwn })
	advantage := slices.ContainsFunc(list, func(c *candidate) bool { return c.class == byAdvantage })
	forbidden := !mayBorrowWhileReclaiming(w)
	switch {
	case w.config.Compat.PreemptWithinNominal, !others, forbidden && !underNominal(w):
		return []bool{true}
	case forbidden && !advantage:
		return []bool{false, true}
	}
	return []bool{true, false}
}

// underNominal reports whether the queue uses less than its nominal quota of all that needs
// preemption.
func underNominal(w *world) bool {
	for _, fr := range w.needs {
		if w.own.usage(fr) >= w.own.quotas[fr].Nominal {
			return false
		}
	}
	return true
}

// attempt: KEP-83, Preemption, step 4: "Remove Workloads from the snapshot in the order of the list.
// Stop removing Workloads if the incoming Workload fits within the quota." "A candidate that a limit
// refuses is passed over."
func attempt(w *world, list []*candidate, mayBorrow bool, at time.Time) (victims []*candidate) {
	for _, c := range list {
		if !w.stillBorrows(c) || !withinLimits(w, c, victims, at) {
			continue
		}
		c.remove()
		victims = append(victims, c)
		if w.fits(mayBorrow) {
			victims = minimal(w, victims, func([]*candidate) bool { return w.fits(mayBorrow) })
			restore(victims)
			return victims
		}
	}
	restore(victims)
	return nil
}

func restore(victims []*candidate) {
	for _, c := range victims {
		c.putBack()
	}
}

// stillBorrows: KEP-83, Preemption, step 4: "Skip removing more Workloads from a ClusterQueue if its
// usage is already below its min quota for all the involved flavors." In a tree this holds for the
// cohorts below the one that joins both queues, too.
func (w *world) stillBorrows(c *candidate) bool {
	return c.class == ofOwn || c.of.home.borrowsBelow(c.meet, w.needs)
}

// minimal: KEP-83, Preemption, step 5: "In the reverse order of the Workloads that were removed, add
// Workloads back as long as the incoming Workload still fits. This gives us a minimal set of
// Workloads to preempt." It is repeated until nobody can stay: who is put back may have justified another.
func minimal(w *world, victims []*candidate, enough func(rest []*candidate) bool) []*candidate {
	for before := -1; before != len(victims); {
		before = len(victims)
		for i := len(victims) - 1; i >= 0; i-- {
			c, rest := victims[i], without(victims, i)
			if c.podSet != whole && c.of.gone {
				continue // a replica of a workload that yields as a whole does not stay
			}
			c.putBack()
			if enough(rest) {
				victims = rest
			} else {
				c.remove()
			}
		}
	}
	return victims
}

func without(list []*candidate, i int) []*candidate {
	return slices.Delete(slices.Clone(list), i, i+1)
}

// fits reports whether the request fits: it is no more than what is available in any column. Without
// borrowing, the queue also stays within its nominal quota.
func (w *world) fits(mayBorrow bool) bool { return quotaFits(w, mayBorrow) && w.hasRoom() }

func quotaFits(w *world, mayBorrow bool) bool {
	for fr, amount := range w.asked {
		within := plus(w.own.usage(fr), amount) <= w.own.quotas[fr].Nominal
		if amount > w.own.available(fr) || !mayBorrow && !within {
			return false
		}
		if staysWithin(w, fr) && !within {
			return false
		}
	}
	return true
}

// staysWithin reports whether no victim helps a request that then borrows in a column: with
// PreemptWithinNominal "in what needs preemption".
func staysWithin(w *world, fr column) bool {
	return w.config.Compat.PreemptWithinNominal && !w.request.Workload.NeverPreempts && slices.Contains(w.needs, fr)
}
