package nodes

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// KeptBy returns the rule that keeps a unit from yielding at the time of the request, with its end if time ends it; the
// zero value if none does.
func (w *units) KeptBy(u Unit) placement.Blocker {
	if u.Priority >= w.Request.Priority {
		return placement.Blocker{Rule: placement.RulePriority}
	}
	if slices.ContainsFunc(u.Pods, w.stuck) {
		return placement.Blocker{Rule: placement.RuleTerminating}
	}
	if until, setBy := w.protected(u); !until.IsZero() && !until.Before(w.Request.Now) {
		return placement.Blocker{Rule: placement.RuleMinRuntime, Until: until, SetBy: setBy}
	}
	until, never := w.guarded(u)
	switch {
	case never:
		return placement.Blocker{Rule: placement.RuleGuarded}
	case !until.IsZero() && !until.Before(w.Request.Now):
		return placement.Blocker{Rule: placement.RuleGuarded, Until: until}
	}
	return placement.Blocker{}
}

// protected returns the last instant at which the minimum runtime of a pod protects the unit, and what sets it; zero for
// none.
func (w *units) protected(u Unit) (until time.Time, setBy string) {
	for _, p := range u.Pods {
		if end, by := w.minimumRuntime(p); end.After(until) {
			until, setBy = end, by
		}
	}
	return until, setBy
}

// minimumRuntime returns the last instant of a pod's minimum runtime: the pod's own, else that of the nearest group
// around it that has one, else the default; against requests of other queues, that against reclaims. Zero for a pod that
// has none, has no start time, terminates, or is surplus.
func (w *units) minimumRuntime(p workload.Pod) (until time.Time, setBy string) {
	if p.Terminating || p.Started.IsZero() || w.isSurplus(p) {
		return time.Time{}, ""
	}
	queue := p.Queue
	if root := w.root(p); root.ID != "" {
		queue = root.Queue
	}
	reclaims := queue != "" && w.Request.Queue != "" && queue != w.Request.Queue
	type setting struct {
		minimum quota.OptionalDuration
		by      string
	}
	choose := func(preempt, reclaim quota.OptionalDuration, by string) setting {
		if reclaims {
			return setting{reclaim, by}
		}
		return setting{preempt, by}
	}
	settings := []setting{choose(p.MinRuntime, p.ReclaimMinRuntime, fmt.Sprintf("pod %q", p.ID))}
	for _, g := range w.around(p) {
		settings = append(settings, choose(g.MinRuntime, g.ReclaimMinRuntime, fmt.Sprintf("group %q", g.ID)))
	}
	settings = append(settings, choose(w.Config.MinRuntime, w.Config.ReclaimMinRuntime, "default"))
	for _, s := range settings {
		if least, set := s.minimum.Get(); set && least > 0 {
			return p.Started.Add(least), s.by
		} else if set {
			break
		}
	}
	return time.Time{}, ""
}

// guarded returns the last instant at which the guards protect a unit, and whether one always does; zero for none.
func (w *units) guarded(u Unit) (until time.Time, never bool) {
	for _, g := range w.Config.Guards {
		v := g.Verdict(u.Unit, w.Request)
		if at, timed := v.Until(); timed && at.After(until) {
			until = at
		}
		never = never || v.Never()
	}
	return until, never
}
