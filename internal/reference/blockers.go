package reference

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

// blocking collects the blockers.
type blocking struct {
	*Question
	holding []rules.Trigger // of the rules
	short   []Column
	list    []preemption.Blocker
}

// blockers lists what stands in the way while nothing is taken: in the own queue, then at each level upwards in the
// queues under its cohort before its child cohorts, by name, up to the highest node that sets the limit. A request
// that could never fit has no blockers.
func (q *Question) blockers(short []preemption.Shortage, holding []rules.Trigger) []preemption.Blocker {
	b, top := blocking{Question: q, holding: holding}, q.Queue
	for _, s := range short {
		c := q.tree.numbers[s.FlavorResource]
		b.short = append(b.short, c)
		if n := q.tree.cohorts[s.Cohort]; n != nil && top.IsUnder(n) {
			top = n
		}
		if slices.ContainsFunc(q.Asked, func(a Amount) bool { return a.Column == c && a.Amount > s.PotentialAvailable }) {
			return nil
		}
	}
	if len(short) == 0 {
		return nil
	}
	b.queueOf(q.Queue)
	for n := q.Queue; n != top; n = n.Parent {
		b.under(n.Parent, n)
	}
	most := q.Config.MaxBlockers
	if q.Config.MaxBlockers < 0 {
		return nil
	}
	if most == 0 {
		most = 4
	}
	return b.list[:min(most, len(b.list))]
}

func (b *blocking) holds(n *Node) bool {
	return slices.ContainsFunc(b.short, func(c Column) bool { return n.Used[c] > 0 })
}

func (b *blocking) under(n, passed *Node) {
	columns := b.Needed // of which a cohort must borrow something
	if b.fair() {
		columns = b.tree.all
	}
	for _, n := range n.Children {
		switch {
		case n == passed || !b.holds(n):
		case n.Queue != nil:
			b.queueOf(n)
		case !n.borrows(columns):
			b.list = append(b.list, preemption.Blocker{Rule: preemption.RuleWithinNominal, Cohort: n.Name})
		default:
			b.under(n, passed)
		}
	}
}

// queueOf adds the first rule that keeps a workload of the queue, and the first workload that it keeps. Workloads
// that only time or a guard keeps come first.
func (b *blocking) queueOf(n *Node) {
	if !b.holds(n) {
		return
	}
	own := n == b.Queue
	for _, r := range b.users(n) {
		if kept := b.keptByRules(r); kept.Rule != 0 {
			kept.Queue, kept.Workload = n.Name, r.ID
			b.list = append(b.list, kept)
			return
		}
	}
	switch {
	case !own && !n.borrows(b.Needed):
		b.list = append(b.list, preemption.Blocker{Rule: preemption.RuleWithinNominal, Queue: n.Name})
		return
	case inactive(n):
		b.list = append(b.list, preemption.Blocker{Rule: preemption.RuleQueueInactive, Queue: n.Name})
		return
	}
	permitted := func(r *Running) bool {
		if own {
			_, may := b.rightInOwnQueue(r)
			return may
		}
		return b.reclaims(r.Workload)
	}
	refusing := preemption.RuleReclaimWithinCohort
	if own {
		refusing = preemption.RuleWithinClusterQueue
	}
	for _, kept := range []struct {
		rule preemption.Rule
		of   func(r *Running) bool
	}{
		{0, func(r *Running) bool { return permitted(r) && b.keptBy(r).Rule != 0 }},
		{refusing, func(r *Running) bool { return !permitted(r) }},
		{preemption.RuleBorrowWithinCohort, func(r *Running) bool {
			c := b.reclaimed(r)
			return !own && c.Class == ByPriority && !b.Config.Compat.PreemptWithinNominal && c.Reason == preemption.InCohortReclamation
		}},
		{preemption.RuleFairShare, func(r *Running) bool {
			return b.fair() && (!own || permitted(r) && (b.Unstable(r) || !b.KeepsShares(nil, Candidate{Running: r, PodSet: -1})))
		}},
	} {
		users := b.users(n)
		i := slices.IndexFunc(users, kept.of)
		if i < 0 {
			continue
		}
		r, blocker := users[i], preemption.Blocker{Rule: kept.rule}
		if kept.rule == 0 {
			blocker = b.keptBy(r)
		}
		blocker.Queue, blocker.Workload = n.Name, r.ID
		least, timed := b.minAdmit()
		if kept.rule == preemption.RuleWithinClusterQueue && timed && !r.ReservedAt.IsZero() && r.EffectivePriority() == b.priority() {
			blocker.Until = r.ReservedAt.Add(least)
		}
		b.list = append(b.list, blocker)
		return
	}
}

// users lists the workloads of a queue that use what is short, in the order of candidates.
func (b *blocking) users(n *Node) (list []*Running) {
	for _, r := range b.Running {
		if r.At == n && slices.ContainsFunc(b.short, func(c Column) bool { return r.takes[c] > 0 }) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, b.compareWhole)
	return list
}

// byRules reports whether a tier of which the trigger holds accepts a workload, whatever constraints on quota say.
func (b *blocking) byRules(r *Running) bool {
	return !inactive(r.At) && slices.ContainsFunc(b.holding, func(trigger rules.Trigger) bool {
		return len(b.BadSelectors(trigger)) == 0 && len(b.selected(trigger, r, Constraints[:])) > 0
	})
}

// keptByRules returns what keeps a workload that rules accept.
func (b *blocking) keptByRules(r *Running) preemption.Blocker {
	if !b.byRules(r) || b.KeptFromRules(r) == "" {
		return preemption.Blocker{}
	}
	if until, setBy, ok := b.minRuntime(r); !neverYields(r) && ok && !b.Now.After(until) {
		return preemption.Blocker{Rule: preemption.RuleMinRuntime, Until: until, SetBy: setBy}
	}
	if neverYields(r) {
		return preemption.Blocker{Rule: preemption.RuleNeverYields}
	}
	until, _ := b.guard(r)
	return preemption.Blocker{Rule: preemption.RuleGuarded, Until: until}
}

// keptBy returns what keeps a workload now: that it never yields, else its minimum runtime, else a guard.
func (q *Question) keptBy(r *Running) preemption.Blocker {
	if neverYields(r) {
		return preemption.Blocker{Rule: preemption.RuleNeverYields}
	}
	if until, setBy, ok := q.guarantee(r); ok && !q.Now.After(until) {
		return preemption.Blocker{Rule: preemption.RuleMinRuntime, Until: until, SetBy: setBy}
	}
	if until, _ := q.guard(r); q.Guarded(r) {
		return preemption.Blocker{Rule: preemption.RuleGuarded, Until: until}
	}
	return preemption.Blocker{}
}

// mayOfPriority reports whether withinClusterQueue permits the priority of a workload of the own queue.
func (q *Question) mayOfPriority(r *Running) bool {
	theirs, ours := r.EffectivePriority(), q.priority()
	equal := theirs == ours && q.policy.WithinClusterQueue == queue.LowerOrNewerEqualPriority
	return q.policy.WithinClusterQueue != queue.Never && (theirs < ours || equal)
}
