package world

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	// manyPriorities is how many priorities of records that only order a queue are taken to be rights to preempt.
	manyPriorities = 20
	// usualBands is into how many bands more of them are divided, where no setting says.
	usualBands = 3
	maxBands   = 100
)

// PriorityBands divides the priorities of all jobs into bands with about as many jobs each. It returns the lowest of each, the highest
// first. There are fewer if many jobs have the same priority.
func (t *Trace) PriorityBands(n int) (lowest []int64) {
	all := make([]int64, len(t.Jobs))
	for i := range t.Jobs {
		all[i] = t.Jobs[i].Priority
	}
	slices.SortFunc(all, func(a, b int64) int { return cmp.Compare(b, a) })
	for band := range n {
		end := (band + 1) * len(all) / n
		if end == 0 {
			continue
		}
		if low := all[end-1]; len(lowest) == 0 || low < lowest[len(lowest)-1] {
			lowest = append(lowest, low)
		}
	}
	return lowest
}

// BandOf returns the band of a priority.
func BandOf(lowest []int64, priority int64) int {
	i, _ := slices.BinarySearchFunc(lowest, priority, func(low, p int64) int { return cmp.Compare(p, low) })
	return min(i, len(lowest)-1)
}

// band gives the jobs of a band one priority, its lowest, if the settings say so, or if the records have many priorities that
// only order a queue.
func (w *World) band() {
	n, why := int(w.Bands), ""
	if !w.given["bands"] {
		if !w.Ordered || w.Rights != nil || w.ranks() || len(w.Priorities()) <= manyPriorities {
			return
		}
		n, why = usualBands, ", as Slurm's priorities order a queue and give no right to preempt (bands=0 keeps them)"
	}
	if n == 0 {
		return
	}
	lowest := w.PriorityBands(n)
	before := len(w.Priorities())
	w.Jobs = slices.Clone(w.Jobs)
	for i := range w.Jobs {
		w.Jobs[i].Priority = lowest[BandOf(lowest, w.Jobs[i].Priority)]
	}
	w.Invented = append(slices.Clip(w.Invented), fmt.Sprintf("%d priorities in place of %d%s", len(lowest), before, why))
}
