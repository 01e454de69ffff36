package witness

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/queue"
)

// KEP-83, Preemption, step 3: "Sort the Workloads", and KEP-8522, the order among same-priority
// candidates.

// inOrder returns the candidates in the order of removal: "Workloads that are being evicted before
// all others", then by class. With Request.LocalQueueUsage "the queues of one class are merged: of
// their next candidates the one that steps 3 to 6 put first."
func (w *world) inOrder(list []*candidate, at time.Time) (ordered []*candidate) {
	for _, leaving := range []bool{true, false} {
		for _, k := range []class{byAdvantage, ofOthers, ofOwn} {
			byQueue := map[string][]*candidate{}
			for _, c := range list {
				if c.leaving == leaving && c.class == k {
					byQueue[c.of.home.name] = append(byQueue[c.of.home.name], c)
				}
			}
			ordered = append(ordered, merge(w, byQueue, at)...)
		}
	}
	return ordered
}

// merge takes the first of the next candidates of all queues, again and again.
func merge(w *world, byQueue map[string][]*candidate, at time.Time) (merged []*candidate) {
	for name := range byQueue {
		sortQueue(w, byQueue[name], at)
	}
	for {
		var first []*candidate
		for _, n := range w.queues {
			next := byQueue[n.name]
			if len(next) > 0 && (first == nil || compare(next[0], first[0], at) < 0) {
				first = next
			}
		}
		if first == nil {
			return merged
		}
		merged = append(merged, first[0])
		byQueue[first[0].of.home.name] = first[1:]
	}
}

// sortQueue: "The candidates of each queue come by the usage of their local queues, the highest
// first, before steps 3 to 6."
func sortQueue(w *world, list []*candidate, at time.Time) {
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(
			cmp.Compare(localUsage(w, b.of.LocalQueue), localUsage(w, a.of.LocalQueue)),
			compare(a, b, at),
		)
	})
}

// localUsage is the usage of a local queue: "one that is not listed has a usage of zero".
func localUsage(w *world, name string) float64 {
	i := slices.IndexFunc(w.request.LocalQueueUsage, func(u queue.LocalQueueUsage) bool { return u.LocalQueue == name })
	if i < 0 || name == "" {
		return 0
	}
	return w.request.LocalQueueUsage[i].Usage
}

// compare is steps 3 to 6: "lower priority; then equals whose time is over, longest running first;
// then newer equals"; "at equal priority: surplus replicas of elastic workloads one by one, then
// whole workloads"; "later reservation first (a missing one counts as now), lower UID, lower ID; in a
// workload the last pod set first, but of replicas that leave already the first".
func compare(a, b *candidate, at time.Time) int {
	if a.expired && b.expired {
		earlier := reservation(a, at).Compare(reservation(b, at))
		return cmp.Or(comparePriority(a, b), cmp.Compare(number(!a.surplus()), number(!b.surplus())), earlier, compareNames(a, b))
	}
	return cmp.Or(comparePriority(a, b), cmp.Compare(number(!a.expired), number(!b.expired)), compareAlike(a, b, at))
}

func comparePriority(a, b *candidate) int {
	return cmp.Compare(a.of.EffectivePriority(), b.of.EffectivePriority())
}

// compareAlike is steps 4 to 6.
func compareAlike(a, b *candidate, at time.Time) int {
	return cmp.Or(
		comparePriority(a, b),
		cmp.Compare(number(!a.surplus()), number(!b.surplus())),
		reservation(b, at).Compare(reservation(a, at)),
		compareNames(a, b),
	)
}

func compareNames(a, b *candidate) int {
	set := cmp.Compare(b.podSet, a.podSet)
	if a.leaving && b.leaving {
		set = -set
	}
	return cmp.Or(cmp.Compare(a.of.UID, b.of.UID), cmp.Compare(a.of.ID, b.of.ID), set)
}

func reservation(c *candidate, at time.Time) time.Time {
	if c.of.ReservedAt.IsZero() {
		return at
	}
	return c.of.ReservedAt
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
