package nodes

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// unit is what is evicted together: a pod, or all running pods of a group that yields whole.
type unit struct {
	group    string
	pods     []workload.Pod
	priority int32
	// violations is the number of its pods that are evicted against a budget if all more
	// important units are evicted, too.
	violations int
}

// stuck reports whether a terminating pod is not waited for: it terminates for too long, or it was not
// preempted, and the request could not.
func (w *world) stuck(p workload.Pod) bool {
	if w.Design && p.Terminating && !p.Preempted && w.priorityOf(p) >= w.Priority {
		return true
	}
	return p.Terminating && w.Timeout > 0 && !p.TerminatingSince.IsZero() && !p.TerminatingSince.Add(w.Timeout).After(w.Now)
}

// stays reports whether a pod counts as running.
func (w *world) stays(p workload.Pod) bool { return !w.Design || !p.Terminating || w.stuck(p) }

// mode returns the group that a pod yields with; empty: it yields alone.
func (w *world) yieldsWith(p workload.Pod) string {
	for _, g := range w.Groups {
		if g.ID == p.Group && g.DisruptionMode == workload.DisruptionModePodGroup {
			return g.ID
		}
	}
	return ""
}

// units lists the units that run, most important first; those that were told to stop are
// none in the design.
func (w *world) units() (list []unit) {
	for _, p := range w.Pods {
		if p.Terminating && w.Design {
			continue
		}
		group := w.yieldsWith(p)
		i := slices.IndexFunc(list, func(u unit) bool { return group != "" && u.group == group })
		if i < 0 {
			i, list = len(list), append(list, unit{group: group, priority: w.priorityOf(p)})
		}
		list[i].pods = append(list[i].pods, p)
	}
	for _, u := range list {
		slices.SortFunc(u.pods, func(a, b workload.Pod) int { return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID)) })
	}
	slices.SortFunc(list, w.moreImportant)
	return list
}

func (w *world) moreImportant(a, b unit) int {
	number := func(u unit) (plain int, start int64, surplus int) {
		plain, start = 1, math.MaxInt64
		for _, p := range u.pods {
			if w.isSurplus(p) {
				surplus = 1
			}
			if p.Group != "" {
				plain = 0
			}
			if !p.Started.IsZero() {
				start = min(start, p.Started.UnixNano())
			}
		}
		return plain, start, surplus
	}
	plainA, startA, surplusA := number(a)
	plainB, startB, surplusB := number(b)
	return cmp.Or(-cmp.Compare(a.priority, b.priority), cmp.Compare(plainA, plainB), -cmp.Compare(len(a.pods), len(b.pods)),
		cmp.Compare(startA, startB), cmp.Compare(surplusA, surplusB), cmp.Compare(a.pods[0].UID, b.pods[0].UID), cmp.Compare(a.pods[0].ID, b.pods[0].ID))
}

// keeps says what keeps a unit from yielding now; empty: nothing.
func (w *world) keeps(u unit) string {
	until, never := time.Time{}, false
	if w.Guard != nil {
		until, never = w.Guard(u.group, u.pods, u.priority)
	}
	switch {
	case u.priority >= w.Priority:
		return "its priority is not lower"
	case slices.ContainsFunc(u.pods, w.stuck):
		return "it was told to stop long ago"
	case slices.ContainsFunc(u.pods, func(p workload.Pod) bool { until, ok := w.minimumRuntime(p); return ok && !until.Before(w.Now) }):
		return "its minimum runtime is not over"
	case never, !until.IsZero() && !until.Before(w.Now):
		return "a guard protects it"
	}
	return ""
}

// minimumRuntime returns the last instant of a pod's minimum runtime: its own, else that of
// its group, else the default; against requests of other queues, that against reclaims.
func (w *world) minimumRuntime(p workload.Pod) (until time.Time, ok bool) {
	queue, preempt, reclaim := p.Queue, []quota.OptionalDuration{p.MinRuntime}, []quota.OptionalDuration{p.ReclaimMinRuntime}
	for _, g := range w.Groups {
		if g.ID == p.Group {
			queue, preempt, reclaim = g.Queue, append(preempt, g.MinRuntime), append(reclaim, g.ReclaimMinRuntime)
		}
	}
	settings := append(preempt, w.MinRuntime)
	if queue != "" && w.Queue != "" && queue != w.Queue {
		settings = append(reclaim, w.ReclaimMinRuntime)
	}
	least := time.Duration(0)
	if i := slices.IndexFunc(settings, func(s quota.OptionalDuration) bool { return !s.IsZero() }); i >= 0 {
		least = settings[i].Or(0)
	}
	return p.Started.Add(least), least > 0 && !p.Terminating && !p.Started.IsZero() && !w.isSurplus(p)
}

// isSurplus reports whether a pod runs over the minimum of its group: so many others that run and do not
// terminate come before it by ID. A group that yields whole has no surplus.
func (w *world) isSurplus(p workload.Pod) bool {
	for _, g := range w.Groups {
		if g.ID != p.Group || g.MinCount == 0 || p.Terminating || w.yieldsWith(p) != "" {
			continue
		}
		before := 0
		for _, o := range w.Pods {
			if o.Group == g.ID && !o.Terminating && o.ID < p.ID {
				before++
			}
		}
		return before >= g.MinCount
	}
	return false
}

// potential lists the units that may yield and have a pod in the domain, charged to budgets.
func (w *world) potential(domain []string) []unit {
	list := slices.DeleteFunc(w.units(), func(u unit) bool {
		in := slices.ContainsFunc(u.pods, func(p workload.Pod) bool { return slices.Contains(domain, p.Node) })
		return !in || w.keeps(u) != ""
	})
	left := make([]int64, len(w.Budgets))
	for i, b := range w.Budgets {
		left[i] = b.Allowed
	}
	for i := range list {
		for _, p := range list[i].pods {
			over := 0
			for _, b := range w.covering(p) {
				if left[b]--; left[b] < 0 {
					over = 1
					if w.FirstViolated {
						break
					}
				}
			}
			list[i].violations += over
		}
	}
	return list
}

// covering lists the budgets that a pod is charged to, by name.
func (w *world) covering(p workload.Pod) (list []int) {
	for i, b := range w.Budgets {
		if b.Covers(&p) && !slices.Contains(b.Disrupted, p.ID) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(i, k int) int { return cmp.Compare(w.Budgets[i].Name, w.Budgets[k].Name) })
	return list
}
