package queues

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/quota"
)

// search makes the documented search and returns the victims in the order in which they were
// chosen. It leaves nobody gone.
func (j *judge) search() []candidate {
	if j.Workload.NeverPreempts {
		return nil
	}
	list := j.candidates()
	victims := j.searchIn(list, false)
	if leaving := j.searchLeaving(list); !allLeave(victims) && leaving != nil {
		return leaving
	}
	if victims != nil || !j.ReconsiderLarger {
		return victims
	}
	return j.searchIn(j.largestFirst(list), true)
}

// searchLeaving takes what was told to stop before, and the policies permit while nobody is gone, until the
// request fits: then nothing else is told to stop.
func (j *judge) searchLeaving(list []candidate) []candidate {
	for _, borrowing := range j.attempts(list) {
		leaves := slices.DeleteFunc(j.inAttempt(list, borrowing, false), func(c candidate) bool { return !c.Evicted || !j.mayBeTaken(c, borrowing) })
		for n, c := range leaves {
			if c.class != ownQueue && j.Fair && !j.entitled() {
				leaves[n].reason = InCohortFairSharing
			}
		}
		for n, c := range leaves {
			if j.take(c, 1); !j.fits(borrowing) {
				continue
			}
			taken := slices.Clone(leaves[:n+1])
			for i := n - 1; i >= 0; i-- {
				if j.take(taken[i], -1); j.fits(borrowing) {
					taken = slices.Delete(taken, i, i+1)
				} else {
					j.take(taken[i], 1)
				}
			}
			j.takeAll(taken, -1)
			return taken
		}
		j.takeAll(leaves, -1)
	}
	return nil
}

// partIsEnough reports whether it suffices that of a victim that goes whole only what was told to stop
// goes, and then surplus, the last pod set first. suffices is asked about the victims, which are gone.
func (j *judge) partIsEnough(taken []candidate, i int, suffices func(rest []candidate) bool) (enough bool) {
	whole := taken[i]
	rest := slices.Delete(slices.Clone(taken), i, i+1)
	j.take(whole, -1)
	try := func(c candidate) {
		j.take(c, 1)
		rest = append(rest, c)
		enough = enough || suffices(rest)
	}
	for _, part := range whole.parts {
		c := whole
		c.running = part
		try(c)
	}
	for set := len(whole.PodSets) - 1; set >= 0; set-- {
		for n := whole.PodSets[set].Surplus(); n > 0 && !whole.Evicted && j.uses(whole.running, set); n-- {
			c := whole
			c.set = set
			try(c)
		}
	}
	j.takeAll(rest[len(taken)-1:], -1)
	j.take(whole, 1)
	return enough
}

// allLeave reports whether all victims were told to stop before.
func allLeave(parts []candidate) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(c candidate) bool { return !c.Evicted })
}

func (j *judge) searchIn(list []candidate, largestFirst bool) []candidate {
	j.takeAll(list, 1)
	hopeless := !j.fits(true)
	j.takeAll(list, -1)
	switch {
	case hopeless:
		return nil
	case j.Fair:
		return j.fairSearch(list, largestFirst)
	}
	for _, borrowing := range j.attempts(list) {
		if victims := j.attempt(list, borrowing, largestFirst); victims != nil {
			return victims
		}
	}
	return nil
}

// attempts says with which permissions victims are searched for, one after the other: true
// if the request may take its queue over the nominal quota.
func (j *judge) attempts(list []candidate) []bool {
	has := func(k class) bool { return slices.ContainsFunc(list, func(c candidate) bool { return c.class == k }) }
	forbidden := j.policy.BorrowWithinCohort.Policy == 0
	under := true
	for _, c := range j.needed {
		under = under && j.queue.used[c] < j.queue.quotas[c].Nominal
	}
	switch {
	case j.PreemptWithinNominal && !j.Fair:
		return []bool{false}
	case j.Fair, !has(hierarchical) && !has(byPriority), forbidden && !under:
		return []bool{true}
	case forbidden && !has(hierarchical):
		return []bool{false, true}
	}
	return []bool{true, false}
}

// permits reports whether an attempt permits a candidate, whichever victims are gone: one that may take the queue over
// its nominal quota reclaims by borrowWithinCohort, but from queues in which the preemptor has the advantage.
func (j *judge) permits(c candidate, borrowing bool) bool {
	return c.class != byPriority || !borrowing || j.PreemptWithinNominal || c.reason == InCohortReclaimWhileBorrowing
}

// mayBeTaken reports whether an attempt permits a candidate when those before it are gone:
// another queue must still borrow.
func (j *judge) mayBeTaken(c candidate, borrowing bool) bool {
	if c.class == ownQueue {
		return true
	}
	if !j.permits(c, borrowing) {
		return false
	}
	for n := c.queue; n != c.cohort; n = n.parent {
		if !j.Fair && !n.borrows(j.needed) || j.Fair && !n.share().Borrows {
			return false
		}
	}
	return true
}

func (j *judge) attempt(list []candidate, borrowing, largestFirst bool) (taken []candidate) {
	for _, c := range j.inAttempt(list, borrowing, largestFirst) {
		if !j.mayBeTaken(c, borrowing) || j.limited(taken, c) {
			continue
		}
		taken = append(taken, c)
		if j.take(c, 1); j.fits(borrowing) {
			taken = j.putBack(taken, borrowing)
			j.takeAll(taken, -1)
			return taken
		}
	}
	j.takeAll(taken, -1)
	return nil
}

// putBack puts back, latest first, each victim that is not needed. If shares are checked
// again it is repeated: a victim that is put back may justify another one.
func (j *judge) putBack(taken []candidate, borrowing bool) []candidate {
	for before := -1; before != len(taken); {
		before = len(taken)
		for i := len(taken) - 2; i >= 0; i-- {
			if j.canStay(taken, i, borrowing) {
				j.take(taken[i], -1)
				taken = slices.Delete(taken, i, i+1)
			}
		}
	}
	return taken
}

// canStay reports whether the request fits, by the same rights, if one of the victims, all
// gone, stays.
func (j *judge) canStay(taken []candidate, i int, borrowing bool) bool {
	c := taken[i]
	if c.set >= 0 && c.whole || c.goesAlong() {
		return false // its workload goes as a whole
	}
	j.take(c, -1)
	defer j.take(c, 1)
	if !j.fits(borrowing) {
		return false
	}
	if !j.Fair || !j.RecheckShares {
		return true
	}
	var along []candidate // they go with their workload: before it goes, they are there
	rest := slices.DeleteFunc(slices.Delete(slices.Clone(taken), i, i+1), func(c candidate) bool {
		goes := c.set >= 0 && c.whole || c.goesAlong()
		if goes {
			along = append(along, c)
		}
		return goes
	})
	j.takeAll(along, -1)
	defer j.takeAll(along, 1)
	return j.unjustified(rest) == nil
}

// largestFirst orders candidates of other queues by how much of the request they free.
func (j *judge) largestFirst(list []candidate) []candidate {
	size := func(c candidate) (total int64) {
		for _, a := range j.asked {
			amount := int64(0)
			for i := range c.PodSets {
				for _, of := range c.PodSets[i].Requests {
					switch {
					case of.FlavorResource() != a.FlavorResource() || !slices.Contains(j.needed, a.FlavorResource()):
					case c.set == i:
						amount = quota.Add(amount, of.Amount)
					case c.set < 0:
						amount = quota.Add(amount, c.total(i, of.Amount))
					}
				}
			}
			total += quota.Mul(1000, min(amount, a.Amount)) / a.Amount
		}
		return total
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b candidate) int {
		evicted := first(a.Evicted, b.Evicted)
		if j.Fair {
			evicted = 0
		}
		if a.class == ownQueue || b.class == ownQueue {
			return cmp.Or(evicted, cmp.Compare(a.class, b.class))
		}
		return cmp.Or(evicted, cmp.Compare(a.class, b.class), first(a.set >= 0, b.set >= 0), cmp.Compare(size(b), size(a)))
	})
	return list
}
