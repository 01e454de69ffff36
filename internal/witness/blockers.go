package witness

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
)

// [preemption.Decision.Blockers]: "who may not yield and by which rule: one entry for each queue, or one for
// a whole cohort that borrows nothing". Without limits.

// blockers: "A Blocker is a queue whose workloads could make the request fit but may not yield": none, if
// nobody's leaving could. "There are at most Config.MaxBlockers. Zero is 4; negative: there are none."
func blockers(w *world, at time.Time) (list []preemption.Blocker) {
	if w.own.queue.Inactive { // "nothing in it is admitted, and this is the only blocker"
		list = append(list, preemption.Blocker{Rule: preemption.RuleQueueInactive, Queue: w.own.name})
	}
	short := w.shortage(at)
	alone := rulesAlone(w) // "Blockers and Shortage are about the policies"
	never := alone || slices.ContainsFunc(short, func(s preemption.Shortage) bool { return w.asked[s.FlavorResource] > s.PotentialAvailable })
	if len(list) == 0 && !never && !w.request.Workload.NeverPreempts {
		for _, n := range nearestFirst(w) {
			if b, blocks := blocker(w, n, short, at); blocks {
				list = append(list, b)
			}
		}
	}
	most := max(0, cmp.Or(w.config.MaxBlockers, 4))
	return list[:min(most, len(list))]
}

// nearestFirst: "the preemptor's own queue; then the nearest cohort: its queues by name, then the queues of
// its child cohorts; then the next cohort up in the same way". A cohort that borrows nothing is in the place
// of its queues.
func nearestFirst(w *world) []*node {
	list := []*node{w.own}
	for below := w.own; below.parent != nil; below = below.parent {
		list = append(list, membersOf(w, below.parent, below)...)
	}
	return list
}

func membersOf(w *world, cohort, without *node) (list []*node) {
	for _, kind := range []int{1, 0} {
		for _, child := range cohort.children {
			switch {
			case child == without || kindOf(child) != kind:
			case child.queue != nil || borrowsNothing(w, child):
				list = append(list, child)
			default:
				list = append(list, membersOf(w, child, nil)...)
			}
		}
	}
	return list
}

// borrowsNothing: "the cohort that borrows nothing: no queue under it can be reclaimed from". By the shares
// whatever it borrows counts.
func borrowsNothing(w *world, cohort *node) bool {
	if w.config.Sharing != preemption.Classical {
		return !cohort.borrowsAny(w.allColumns())
	}
	return !cohort.borrowsAny(w.needs)
}

// blocker returns the entry of a queue or cohort.
func blocker(w *world, n *node, short []preemption.Shortage, at time.Time) (preemption.Blocker, bool) {
	if b, kept := w.keptFromRules(n, short, at); kept {
		return b, true
	}
	switch {
	case n.queue == nil:
		return preemption.Blocker{Rule: preemption.RuleWithinNominal, Cohort: n.name}, usedWhereMissing(w, n, short)
	case n != w.own && !mayReclaimFrom(w, n, w.needs): // "which is not about a single workload"
		return preemption.Blocker{Rule: preemption.RuleWithinNominal, Queue: n.name}, usedWhereMissing(w, n, short)
	case n.queue.Inactive: // "Nobody preempts from it"
		return preemption.Blocker{Rule: preemption.RuleQueueInactive, Queue: n.name}, usedWhereMissing(w, n, short)
	}
	return firstRefused(w, n, short, w.policyPermits, at)
}

// firstRefused: "those that a minimum runtime, a guard or NeverYields keeps come before those that withinClusterQueue
// or reclaimWithinCohort refuses, and these before others; then what leaves, lower priority, later reservation,
// lower UID, lower ID."
func firstRefused(w *world, n *node, short []preemption.Shortage, permits func(*candidate, time.Time) bool, at time.Time) (preemption.Blocker, bool) {
	var refused []*candidate
	because := map[*candidate]preemption.Blocker{}
	for _, r := range n.running {
		for _, c := range r.parts() {
			c.class, c.meet = w.classes()[n], meet(w.own, n)
			if b, refuses := refuses(w, c, permits(c, at), at); refuses && !c.surplus() && !c.onlyLeaving() && takesOfMissing(w, c, short) {
				refused, because[c] = append(refused, c), b
			}
		}
	}
	if len(refused) == 0 {
		return preemption.Blocker{}, false
	}
	first := slices.MinFunc(refused, func(a, b *candidate) int {
		return cmp.Or(
			cmp.Compare(stage(because[a].Rule), stage(because[b].Rule)),
			cmp.Compare(number(!a.leaving), number(!b.leaving)), comparePriority(a, b),
			reservation(b, at).Compare(reservation(a, at)), compareNames(a, b))
	})
	return because[first], true
}

func stage(r preemption.Rule) int {
	switch r {
	case preemption.RuleWithinClusterQueue, preemption.RuleReclaimWithinCohort:
		return 1
	case preemption.RuleBorrowWithinCohort, preemption.RuleFairShare:
		return 2
	}
	return 0
}

// onlyLeaving reports whether all replicas of the workload were told to leave: then there is no minimum that
// something keeps.
func (c *candidate) onlyLeaving() bool {
	for _, p := range c.of.PodSets {
		if c.leaving || p.Terminating < p.Count || p.Totals { // totals of no replicas are held all the same
			return false
		}
	}
	return true
}

// takesOfMissing reports whether a candidate takes something of what is missing.
func takesOfMissing(w *world, c *candidate, short []preemption.Shortage) bool {
	for _, s := range short {
		before := c.of.usage(s.FlavorResource)
		c.remove()
		after := c.of.usage(s.FlavorResource)
		c.putBack()
		if after < before && lacks(w, s).above(c.of.home) {
			return true
		}
	}
	return false
}

func usedWhereMissing(w *world, n *node, short []preemption.Shortage) bool {
	return slices.ContainsFunc(short, func(s preemption.Shortage) bool {
		return n.usage(s.FlavorResource) > 0 && lacks(w, s).above(n)
	})
}

// lacks returns the node whose quota or limit is exceeded.
func lacks(w *world, s preemption.Shortage) *node {
	if s.Cohort == "" {
		return w.own
	}
	return find(w.cohorts, s.Cohort)
}

// refuses returns the rule by which a candidate may not yield, and "the last instant at which the rule holds".
func refuses(w *world, c *candidate, permitted bool, at time.Time) (b preemption.Blocker, refuses bool) {
	b = preemption.Blocker{Queue: c.of.home.name, Workload: c.of.ID}
	switch {
	case !permitted && c.of.home == w.own:
		b.Rule, b.Until = preemption.RuleWithinClusterQueue, minAdmitEnds(w, c.of)
	case !permitted:
		b.Rule = preemption.RuleReclaimWithinCohort
	case c.of.NeverYields && !c.leaving:
		b.Rule = preemption.RuleNeverYields
	case !w.mayYield(c, at):
		b.Rule, b.SetBy, b.Until = protector(w, c, at)
	case c.notWhile:
		b.Rule = preemption.RuleBorrowWithinCohort
	case w.config.Sharing != preemption.Classical && c.of.home != w.own: // the search has failed
		b.Rule = preemption.RuleFairShare
	}
	return b, b.Rule != 0
}

// minAdmitEnds is when the time of an equal is over.
func minAdmitEnds(w *world, r *running) time.Time {
	least, set := w.own.queue.Preemption.MinAdmitDuration.Get()
	if !set || !mayBeNewer(w, r) || r.ReservedAt.IsZero() {
		return time.Time{}
	}
	return r.ReservedAt.Add(least)
}

// protector: "SetBy is, for RuleMinRuntime, the node that sets the minimum runtime, as `cohort "research"`, or
// "default"; "protection" for Config.Protection". Else it is a guard.
func protector(w *world, c *candidate, at time.Time) (rule preemption.Rule, setBy string, until time.Time) {
	if c.podSet == whole && !c.leaving {
		minimum, protection := minimumEnds(w, c.of), protectionEnds(w, c)
		switch end := later(minimum, protection); {
		case end.IsZero() || at.After(end):
		case protection.After(minimum):
			return preemption.RuleMinRuntime, "protection", end
		default:
			_, setBy = minimumRuntime(w, c.of.home)
			return preemption.RuleMinRuntime, setBy, end
		}
	}
	if until, never := protectedUntil(w, c); !never {
		return preemption.RuleGuarded, "", until
	}
	return preemption.RuleGuarded, "", time.Time{}
}
