package safe

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// runningIn returns what runs in a queue.
func (a *Asker) runningIn(queue string) []workload.Workload {
	if a.running == nil {
		a.running = map[string][]workload.Workload{}
		for w := range a.snapshot.Workloads() {
			a.running[w.Queue] = append(a.running[w.Queue], w)
		}
	}
	return a.running[queue]
}

// distinct returns the effective priorities of what runs in a tree, rising.
func (a *Asker) distinct(tree string) []int64 {
	list, known := a.ranks[tree]
	if !known {
		seen := map[int64]bool{}
		for queue, of := range a.trees {
			if of == tree {
				for _, w := range a.runningIn(queue) {
					seen[w.EffectivePriority()] = true
				}
			}
		}
		list = slices.Sorted(maps.Keys(seen))
		a.ranks[tree] = list
	}
	return list
}

// durations returns every duration after which a right may begin.
func (a *Asker) durations() []time.Duration {
	c := a.decider.Config()
	list := []time.Duration{0, c.Protection.Preempt, c.Protection.Reclaim, c.Protection.FairSharing}
	add := func(d quota.OptionalDuration) {
		if of, ok := d.Get(); ok {
			list = append(list, of)
		}
	}
	add(c.MinRuntime.Preempt)
	add(c.MinRuntime.Reclaim)
	for co := range a.snapshot.Cohorts() {
		add(co.MinRuntime.Preempt)
		add(co.MinRuntime.Reclaim)
	}
	for _, q := range a.queues {
		add(q.MinRuntime.Preempt)
		add(q.MinRuntime.Reclaim)
		add(q.Preemption.MinAdmitDuration)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// changesIn returns the instants after now at which time alone may change what yields of a region, rising: where a duration ends that began
// with a reservation or an admission, and one nanosecond later.
func (a *Asker) changesIn(of region) []int64 {
	list, known := a.changes[of]
	if !known {
		a.readLasting()
		for queue := range a.trees {
			if a.has(of, queue) {
				list = a.appendChanges(list, a.runningIn(queue))
			}
		}
		slices.Sort(list)
		list = slices.Compact(list)
		a.changes[of] = list
	}
	return list
}

// readLasting leaves out no duration only if something has no reservation: it counts as now, which may come after others.
func (a *Asker) readLasting() {
	if a.lasting != nil {
		return
	}
	a.lasting = a.durations()
	for queue := range a.trees {
		if slices.ContainsFunc(a.runningIn(queue), func(w workload.Workload) bool { return w.ReservedAt.IsZero() }) {
			return
		}
	}
	a.lasting = a.lasting[1:]
}

func (a *Asker) appendChanges(list []int64, running []workload.Workload) []int64 {
	now := instant.Of(a.options.Now)
	for i := range running {
		for _, from := range [...]time.Time{running[i].ReservedAt, running[i].AdmittedAt} {
			for _, d := range a.lasting {
				if end := instant.Of(from); !from.IsZero() && end < math.MaxInt64-int64(d)-1 {
					for at := end + int64(d); at <= end+int64(d)+1; at++ {
						if at > now {
							list = append(list, at)
						}
					}
				}
			}
		}
	}
	return list
}

// next returns the first of rising instants after another; the highest int64: there is none.
func next(list []int64, at int64) int64 {
	if i, _ := slices.BinarySearch(list, at+1); i < len(list) {
		return list[i]
	}
	return math.MaxInt64
}
