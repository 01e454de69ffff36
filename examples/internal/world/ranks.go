package world

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// rank is a QOS or a partition, with what its jobs say of its rank.
type rank struct {
	name       string
	priorities []int64
	preempted  bool
}

// ranks gives the jobs of each QOS, or of each partition if there is one QOS, one priority: the records have the names, and not who may
// preempt whom. Those whose jobs were preempted are below the others; then the medians of the jobs' priorities count, then the names. It
// reports whether there are several.
func (w *World) ranks() bool {
	kind, of := "QOS", func(j *Job) string { return j.QOS }
	list := w.ranked(of)
	if len(list) < 2 {
		kind, of = "partition", func(j *Job) string { return j.Partition }
		if list = w.ranked(of); len(list) < 2 {
			return false
		}
	}
	slices.SortFunc(list, func(a, b *rank) int {
		if a.preempted != b.preempted {
			return map[bool]int{true: -1, false: 1}[a.preempted]
		}
		return cmp.Or(cmp.Compare(a.median(), b.median()), strings.Compare(a.name, b.name))
	})
	priority, names := map[string]int64{}, []string{}
	for i, r := range list {
		priority[r.name] = int64(i)
		names = append(names, fmt.Sprintf("%s %d", cmp.Or(r.name, "none"), i))
	}
	slices.Reverse(names)
	w.Jobs = slices.Clone(w.Jobs)
	for i := range w.Jobs {
		w.Jobs[i].Priority = priority[of(&w.Jobs[i])]
	}
	by := "the medians of Slurm's priorities"
	if list[0].preempted {
		by = "which were preempted, then by " + by
	}
	hint := ""
	if kind == "QOS" {
		hint = "; -qos has the rights"
	}
	w.Invented = append(slices.Clip(w.Invented), fmt.Sprintf("priorities by %s (%s), ordered by %s (bands=N divides Slurm's priorities%s)", kind, told(names), by, hint))
	return true
}

func (w *World) ranked(of func(*Job) string) (list []*rank) {
	by := map[string]*rank{}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		r := by[of(j)]
		if r == nil {
			r = &rank{name: of(j)}
			by[r.name] = r
			list = append(list, r)
		}
		r.priorities, r.preempted = append(r.priorities, j.Priority), r.preempted || j.Preempted > 0
	}
	return list
}

func (r *rank) median() int64 {
	slices.Sort(r.priorities)
	return r.priorities[len(r.priorities)/2]
}

// recorded notes the preemptions that happened.
func (w *World) recorded() {
	var runs, most, held int64
	for i := range w.Jobs {
		j := &w.Jobs[i]
		runs, most, held = runs+j.Preempted, max(most, j.Preempted), held+j.PreemptedFor*j.GPU
	}
	if runs > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("Preempted runs in the records: %d, of one job %d at most; they held %d.%d %s-hours. The columns evicted, one job and lost are of the replay.",
			runs, most, held/3600_000, held/360_000%10, w.Unit))
	}
}
