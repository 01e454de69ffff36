package reference

import (
	"cmp"
	"slices"
)

// sorted puts candidates in order: what leaves already, then by class and tier, then compare.
func (q *rights) sorted(list []Candidate) []Candidate {
	slices.SortStableFunc(list, func(a, b Candidate) int {
		return cmp.Or(first(a.Evicted, b.Evicted), cmp.Compare(a.Class, b.Class), cmp.Compare(a.tier, b.tier), q.compare(a, b))
	})
	if len(q.localUsage) == 0 {
		return list
	}
	return q.byLocalQueue(list)
}

// compare orders by priority, lower first; replicas first; by reservation, later first, but longest first of the workloads
// with their time over; by UID and ID.
func (q *rights) compare(a, b Candidate) int {
	laterFirst := q.reserved(b.Running).Compare(q.reserved(a.Running))
	if a.tier == 1 && b.tier == 1 {
		laterFirst = -laterFirst
	}
	return cmp.Or(cmp.Compare(a.EffectivePriority(), b.EffectivePriority()), first(a.PodSet >= 0, b.PodSet >= 0), laterFirst,
		cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Leaving, b.Leaving), cmp.Compare(b.PodSet, a.PodSet))
}

// ComesBefore reports whether one whole workload comes before another by class, tier, priority and time, whatever their
// names are.
func (q *rights) ComesBefore(a, b Candidate) bool {
	laterFirst := q.reserved(b.Running).Compare(q.reserved(a.Running))
	if a.tier == 1 && b.tier == 1 {
		laterFirst = -laterFirst
	}
	return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.tier, b.tier), cmp.Compare(a.EffectivePriority(), b.EffectivePriority()), laterFirst) < 0
}

// AllColumns lists the columns of the tree.
func (q *rights) AllColumns() []Column { return q.tree.all }

// compareWhole is compare of workloads as a whole.
func (q *rights) compareWhole(a, b *Running) int {
	return cmp.Or(first(a.Evicted, b.Evicted), q.compare(Candidate{Running: a, PodSet: -1}, Candidate{Running: b, PodSet: -1}))
}

// byLocalQueue puts candidates in the order by the usage of their local queues. In a queue, the candidates of the
// local queue that has used most come first. Among the next candidates of all queues, the first in the usual order
// comes next. What leaves already, and each class, stay before the others.
func (q *rights) byLocalQueue(usual []Candidate) (list []Candidate) {
	type turn struct {
		Candidate
		usual int // the place in the usual order
	}
	part := func(a, b turn) int { return cmp.Or(first(a.Evicted, b.Evicted), cmp.Compare(a.Class, b.Class)) }
	lines := map[*Node][]turn{}
	for i, c := range usual {
		lines[c.At] = append(lines[c.At], turn{c, i})
	}
	for _, line := range lines {
		slices.SortStableFunc(line, func(a, b turn) int {
			return cmp.Or(part(a, b), cmp.Compare(q.localUsage[b.LocalQueue], q.localUsage[a.LocalQueue]))
		})
	}
	for range usual {
		var best *turn
		for _, line := range lines {
			if len(line) > 0 && (best == nil || cmp.Or(part(line[0], *best), cmp.Compare(line[0].usual, best.usual)) < 0) {
				best = &line[0]
			}
		}
		list = append(list, best.Candidate)
		lines[best.At] = lines[best.At][1:]
	}
	return list
}

// inAttempt lists the candidates that an attempt permits, in its order. With usage of local queues a candidate that
// it does not permit is in no queue's way.
func (q *rights) inAttempt(list []Candidate, borrowing bool) []Candidate {
	list = slices.DeleteFunc(slices.Clone(list), func(c Candidate) bool { return !q.Permits(c, borrowing) })
	if len(q.localUsage) == 0 {
		return list
	}
	return q.sorted(list)
}
