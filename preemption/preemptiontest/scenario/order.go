package scenario

import (
	"cmp"
	"slices"
)

// running is a workload as a candidate.
type running struct {
	priority, reserved int64
	i, j               int // its number in the world, and in its queue
}

// candidates returns the workloads of the queues that may yield, in the order of candidates:
// by priority, then latest reservation first, then UID (KEP-83, Preemption, step 3).
func (w World) candidates(in func(q int) bool) []running {
	var list []running
	for q := range w.Queues {
		if !in(q) {
			continue
		}
		for j := range w.Each {
			if i := q*w.Each + j; !w.protected(i) {
				list = append(list, running{w.priority(j), w.reserved(i).Unix(), i, j})
			}
		}
	}
	slices.SortFunc(list, func(a, b running) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.reserved, a.reserved), cmp.Compare(a.i, b.i))
	})
	return list
}

// of is the candidates of one queue.
func (w World) of(q int) []running {
	return w.candidates(func(other int) bool { return other == q })
}

// borrowers is the candidates of all queues that the first queue can reclaim from.
func (w World) borrowers() []running {
	return w.candidates(func(q int) bool { return w.role(q) == 4 && (w.Leaves > 0 || q < w.Group) })
}

func total(list []running) Size {
	var sum Size
	for _, r := range list {
		sum = sum.plus(sizeOf(r.j))
	}
	return sum
}

func first(list []running, k int) []running { return list[:min(k, len(list))] }

// First returns the size of the first k workloads that may yield, by priority and then latest
// reservation first: of the queue with that number; with a negative number, of all borrowers
// that the first queue can reclaim from.
func (w World) First(k, queueNumber int) Size {
	if queueNumber < 0 {
		return total(first(w.borrowers(), k))
	}
	return total(first(w.of(queueNumber), k))
}

// reclaim takes workloads from the borrowers in order until they are enough. It skips a workload if its queue is
// back within its nominal quota in both resources.
func (w World) reclaim(borrowers []running, enough func([]running) bool) []running {
	var taken []running
	over := map[int]Size{}
	for _, r := range borrowers {
		q := r.i / w.Each
		left, seen := over[q]
		if !seen {
			left = w.borrowed(q)
		}
		if left.CPU <= 0 && left.Memory <= 0 {
			continue
		}
		over[q] = left.minus(sizeOf(r.j))
		if taken = append(taken, r); enough(taken) {
			break
		}
	}
	return taken
}

// putBack returns the taken workloads that remain after each that is not needed is put back,
// from the last to the first (KEP-83, Preemption, step 5).
func putBack(taken []running, need Size) []running {
	var kept []running
	freed := total(taken)
	for _, r := range slices.Backward(taken) {
		if without := freed.minus(sizeOf(r.j)); without.covers(need) {
			freed = without
		} else {
			kept = append(kept, r)
		}
	}
	return kept
}
