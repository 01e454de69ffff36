package queues

import (
	"cmp"
	"slices"
)

// byUsage puts candidates in the order by the usage of their local queues: each queue asks those
// first whose local queue has used most. Which queue is next is said by the next candidates of the
// queues, in the usual order. Those being evicted, and those of one class, stay before the others.
func (j *judge) byUsage(usual []candidate) (list []candidate) {
	type turn struct {
		candidate
		usual int // the place in the usual order
	}
	lines := map[*node][]turn{}
	for i, c := range usual {
		lines[c.queue] = append(lines[c.queue], turn{c, i})
	}
	part := func(a, b turn) int { return cmp.Or(first(a.Evicted, b.Evicted), cmp.Compare(a.class, b.class)) }
	for _, line := range lines {
		slices.SortStableFunc(line, func(a, b turn) int {
			return cmp.Or(part(a, b), cmp.Compare(j.LocalQueueUsage[b.LocalQueue], j.LocalQueueUsage[a.LocalQueue]))
		})
	}
	for range usual {
		var best *turn
		for _, line := range lines {
			if len(line) > 0 && (best == nil || cmp.Or(part(line[0], *best), cmp.Compare(line[0].usual, best.usual)) < 0) {
				best = &line[0]
			}
		}
		list = append(list, best.candidate)
		lines[best.queue] = lines[best.queue][1:]
	}
	return list
}

// inAttempt lists the candidates that an attempt permits, in its order: a queue's next candidate is the
// next that the attempt permits.
func (j *judge) inAttempt(list []candidate, borrowing, largestFirst bool) []candidate {
	list = slices.DeleteFunc(slices.Clone(list), func(c candidate) bool { return !j.permits(c, borrowing) })
	if len(j.LocalQueueUsage) == 0 {
		return list
	}
	if list = j.sorted(list); largestFirst {
		list = j.largestFirst(list)
	}
	return list
}
