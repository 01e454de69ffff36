package witness

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
)

// Package preemption, Fair sharing: "the shares decide who of other queues yields".

// fair looks for victims by the shares. "The request counts in the share of the preemptor's queue and
// of the cohorts above it." "Then victims that are not needed are put back, the latest first." With Stable sharing, or
// another search than Greedy, a victim stays one if without it "another victim is preempted against the strategies".
func (w *world) fair(at time.Time) []*candidate {
	f := w.newFairSearch(at)
	f.run()
	if len(f.victims) == 0 || !w.fits(true) {
		restore(f.victims)
		return nil
	}
	victims := minimal(w, f.victims, func(rest []*candidate) bool {
		return w.fits(true) && (!rechecks(w) || len(w.outOfOrder(rest, inAttempt(w, true, true))) == 0)
	})
	restore(victims)
	return victims
}

func rechecks(w *world) bool {
	return w.config.Sharing == preemption.Stable || w.config.Search != preemption.Greedy
}

// fairSearch is what a search by shares has done so far.
type fairSearch struct {
	*world
	at      time.Time
	firsts  map[*node]*candidate // by cohort
	victims []*candidate
	refused []*candidate // by the first strategy
	enough  bool
}

func (w *world) newFairSearch(at time.Time) *fairSearch {
	return &fairSearch{world: w, at: at, firsts: firstWorkloads(w, at)}
}

// run: the first strategy; "when no candidate is left, the first candidate of each queue that failed
// is tried once more by the second strategy, if there is one. Replicas that have gone with their
// workload since are no candidate."
func (f *fairSearch) run() {
	strategies := strategies(f.world)
	f.own.asking = f.asked
	defer func() { f.own.asking = nil }()
	f.entitled = f.withinNominal()
	list := f.inOrder(append(f.cohortCandidates(f.at), f.ownCandidates(f.at)...), f.at)
	list = slices.DeleteFunc(list, f.stableKeepsAnyway)
	for before := -1; before < len(f.victims) && !f.enough; {
		before, f.refused = len(f.victims), nil
		f.first(list, strategies[0])
		if f.config.Sharing == preemption.Reevaluated {
			f.again(strategies[0])
		}
		if !f.enough && len(strategies) > 1 {
			f.second(strategies[1])
		}
		if f.config.Sharing != preemption.Stable {
			return
		}
		list = f.refused // "candidates that were refused before are compared again"
	}
}

// strategies: "Empty is both."
func strategies(w *world) []preemption.FairStrategy {
	if len(w.config.Strategies) > 0 {
		return w.config.Strategies
	}
	return []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare, preemption.LessThanInitialShare}
}

// withinNominal: "A preemptor that stays within its nominal quota in the columns that need preemption
// needs no strategy", unless the configuration follows Kueue 0.16.
func (f *fairSearch) withinNominal() bool {
	columns := f.needs
	if f.config.Sharing == preemption.Stable { // "in each column of which its cohort tree has a quota, and in each that it asks for"
		columns = quotaColumns(f.world)
	}
	for _, fr := range columns {
		if f.own.usage(fr) > f.own.quotas[fr].Nominal {
			return false
		}
	}
	return !f.config.Compat.Kueue016
}

// first is step 2: "Try the next candidate of that queue. A candidate in the preemptor's own queue
// becomes a victim. A candidate of another queue does if the preemptor's queue stays within its
// nominal quota, or if the first strategy permits it. If not, try the next one of the queue."
func (f *fairSearch) first(list []*candidate, strategy preemption.FairStrategy) {
	t := f.newTournament(list)
	for n := t.next(); n != nil && !f.enough; n = t.next() {
		for taken := false; !taken && len(t.waiting[n]) > 0; {
			c := t.waiting[n][0]
			t.waiting[n] = t.waiting[n][1:]
			if !withinLimits(f.world, c, f.victims, f.at) || f.stableRefuses(c) {
				continue // "passed over"
			}
			taken = n == f.own || f.entitled || f.permits(strategy, c)
			if taken {
				f.take(c)
			} else {
				f.refused = append(f.refused, c)
			}
		}
	}
}

// again is for Reevaluated: "It runs the first strategy once more over the candidates that it has
// refused, if it did not free enough and took a workload of the preemptor's own queue. Whether it stays
// within its nominal quota is decided anew, so that the refused may go as InCohortReclamation."
func (f *fairSearch) again(strategy preemption.FairStrategy) {
	if f.enough || !slices.ContainsFunc(f.victims, func(c *candidate) bool { return c.class == ofOwn }) {
		return
	}
	var list []*candidate
	before := f.entitled
	defer func() { f.entitled = before }() // for what is leaving
	f.entitled = f.withinNominal()
	for _, c := range f.refused {
		if f.entitled {
			c.reason = preemption.InCohortReclamation // it may have a protection of its own
		}
		if f.mayYield(c, f.at) {
			list = append(list, c)
		}
	}
	f.refused = nil
	f.first(list, strategy)
}

// second is step 3: each queue has one chance, with its first candidate that was refused.
func (f *fairSearch) second(strategy preemption.FairStrategy) {
	t := f.newTournament(f.refused)
	for n := t.next(); n != nil && !f.enough; n = t.next() {
		if c := t.waiting[n][0]; f.permits(strategy, c) && withinLimits(f.world, c, f.victims, f.at) && !f.stableRefuses(c) {
			f.take(c)
			f.refused = slices.DeleteFunc(slices.Clone(f.refused), c.is)
		}
		t.waiting[n] = nil
	}
}

// take removes a victim and looks whether the request fits, which then does not count itself.
func (f *fairSearch) take(c *candidate) {
	c.remove()
	f.victims = append(f.victims, c)
	f.own.asking = nil
	f.enough = f.fits(true)
	f.own.asking = f.asked
}

// permits compares "the shares of two children of the lowest cohort above both queues: the child above
// the preemptor, with the request counted in, and the child above the victim". "FinalShare: the
// preemptor's share is at most the share of the victim's side without the victim. InitialShare: the
// preemptor's share is less than the share of the victim's side with the victim."
func (f *fairSearch) permits(strategy preemption.FairStrategy, c *candidate) bool {
	ours, theirs := childAbove(f.own, c.meet), childAbove(c.of.home, c.meet)
	if strategy == preemption.LessThanInitialShare {
		return f.share(ours).compare(f.share(theirs)) < 0
	}
	c.remove()
	after := f.share(theirs)
	c.putBack()
	return f.share(ours).compare(after) <= 0
}

// childAbove returns the child of a cohort that is a node or above it.
func childAbove(n, cohort *node) *node {
	for n.parent != cohort {
		n = n.parent
	}
	return n
}
