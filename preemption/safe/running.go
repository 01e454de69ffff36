package safe

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// runs is what runs, found when it is first needed.
type runs struct {
	snapshot  *preemption.Snapshot
	where     *places
	now       int64
	durations []time.Duration // see [Asker.durations]
	byQueue   map[string][]workload.Workload
	ranks     map[string][]int64 // priorities, by tree
	changes   map[region][]int64
}

// in returns what runs in a queue.
func (r *runs) in(queue string) []workload.Workload {
	if r.byQueue == nil {
		r.byQueue = map[string][]workload.Workload{}
		missing := false
		for w := range r.snapshot.Workloads() {
			r.byQueue[w.Queue] = append(r.byQueue[w.Queue], w)
			missing = missing || w.ReservedAt.IsZero()
		}
		if !missing { // a missing reservation counts as now, which may come after others
			r.durations = r.durations[1:]
		}
	}
	return r.byQueue[queue]
}

// distinct returns the effective priorities of what runs in a tree, rising.
func (r *runs) distinct(tree string) []int64 {
	list, known := r.ranks[tree]
	if !known {
		seen := map[int64]bool{}
		for queue, of := range r.where.trees {
			if of == tree {
				for _, w := range r.in(queue) {
					seen[w.EffectivePriority()] = true
				}
			}
		}
		list = slices.Sorted(maps.Keys(seen))
		r.ranks[tree] = list
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
func (r *runs) changesIn(of region) []int64 {
	list, known := r.changes[of]
	if !known {
		for queue := range r.where.trees {
			if r.where.has(of, queue) {
				list = r.appendChanges(list, r.in(queue))
			}
		}
		slices.Sort(list)
		list = slices.Compact(list)
		r.changes[of] = list
	}
	return list
}

func (r *runs) appendChanges(list []int64, running []workload.Workload) []int64 {
	for i := range running {
		for _, from := range [...]time.Time{running[i].ReservedAt, running[i].AdmittedAt} {
			for _, d := range r.durations {
				if end := instant.Of(from); !from.IsZero() && end < math.MaxInt64-int64(d)-1 {
					for at := end + int64(d); at <= end+int64(d)+1; at++ {
						if at > r.now {
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
