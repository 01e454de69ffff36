package nodes

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// Package placement, Time: minimum runtimes, guards, and the wait for what terminates.

// mayYield: "Only units of strictly lower priority yield."
func (w *World) mayYield(u *unit) bool { return keptBy(w, u).Rule == 0 }

func (w *World) lower(u *unit) bool { return u.priority() < w.request.Priority }

// keptBy says which rule keeps a unit from yielding: "Until is the last instant at which the rule holds, if time ends it." "Strictly
// after the end the unit may yield."
func keptBy(w *World, u *unit) placement.Blocker {
	b := placement.Blocker{Group: u.group, Pod: u.pods[0].ID, Priority: u.priority()}
	runtime, setBy := minRuntimeOf(w, u)
	switch guard, never := guarded(w, u); {
	case !w.lower(u):
		b.Rule = placement.RulePriority
	case isStuck(w, u):
		b.Rule = placement.RuleTerminating
	case !runtime.Before(w.at) && !runtime.IsZero():
		b.Rule, b.Until, b.SetBy = placement.RuleMinRuntime, runtime, setBy
	case never:
		b.Rule = placement.RuleGuarded
	case !guard.Before(w.at) && !guard.IsZero():
		b.Rule, b.Until = placement.RuleGuarded, guard
	}
	return b
}

// isStuck: RuleTerminating, "a pod of the unit was told to stop, and the termination timeout has passed": "in modes other than
// ModeDesign its group, if it yields whole, is no victim either".
func isStuck(w *World, u *unit) bool { return slices.ContainsFunc(u.pods, w.timedOut) }

// minRuntimeOf: "A unit is protected until each of its running pods has run for its minimum runtime."
func minRuntimeOf(w *World, u *unit) (until time.Time, setBy string) {
	for _, p := range u.pods {
		if p.Terminating || p.Started.IsZero() || u.surplus {
			continue // "are not protected"
		}
		if least, by := minRuntime(w, p); least > 0 && p.Started.Add(least).After(until) {
			until, setBy = p.Started.Add(least), by
		}
	}
	return until, setBy
}

// guarded: "A Guard may also protect a unit until a time." "It is asked about units of lower priority." "One that says never is
// enough, and the latest end wins."
func guarded(w *World, u *unit) (until time.Time, never bool) {
	if !w.lower(u) {
		return until, false
	}
	for _, g := range w.config.Guards {
		v := g.Verdict(u.public(), w.request)
		if end, _ := v.Until(); end.After(until) {
			until = end
		}
		never = never || v.Never()
	}
	return until, never
}

// minRuntime: "the pod's own, else that of the nearest group around it, else Config.MinRuntime. Where the request is of
// another queue than the unit, ReclaimMinRuntime counts in the same way." SetBy "is what sets it: `pod "ns/a"`, `group "ns/train"` or
// "default"".
func minRuntime(w *World, p *pod) (least time.Duration, setBy string) {
	reclaim := w.request.Queue != "" && p.queue != "" && p.queue != w.request.Queue
	pick := func(preempt, reclaimed quota.OptionalDuration) quota.OptionalDuration {
		if reclaim {
			return reclaimed
		}
		return preempt
	}
	if d, set := pick(p.MinRuntime, p.ReclaimMinRuntime).Get(); set {
		return d, fmt.Sprintf("pod %q", p.ID)
	}
	for _, g := range around(w, p.Group) {
		if d, set := pick(g.MinRuntime, g.ReclaimMinRuntime).Get(); set {
			return d, fmt.Sprintf("group %q", g.ID)
		}
	}
	return pick(w.config.MinRuntime, w.config.ReclaimMinRuntime).Or(0), "default"
}

// timedOut: "TerminationTimeout limits how long a terminating pod is waited for. When it has passed the pod counts as running.
// Zero: no limit." "Zero TerminatingSince: not known; requests then wait for the pod without limit."
func (w *World) timedOut(p *pod) bool {
	limit := w.request.TerminationTimeout
	return p.Terminating && limit > 0 && !p.TerminatingSince.IsZero() && !w.at.Before(p.TerminatingSince.Add(limit))
}

// leaving lists the pods that are waited for: "So does a pod that terminates for another reason than preemption" count
// as running, "unless its priority is lower: what is waited for is that triggered preemptions are finished".
func (w *World) leaving() (list []*pod) {
	for _, p := range w.running {
		if p.Terminating && !w.timedOut(p) && (p.Preempted || p.priority < w.request.Priority) {
			list = append(list, p)
		}
	}
	return list
}

// Package placement, ModeInPlace: as built in Kubernetes v1.37.

// waitsInPlace: "a preemptor waits only while victims of lower priority terminate on a node that it is nominated to". It keeps
// its nominations. A nomination "that cannot be met is dropped": of a single pod, as built, one to a node where it may not run.
func waitsInPlace(w *World) (d placement.Decision, waits bool) {
	var promised []seat
	for _, p := range w.pods {
		if p.promised == nil || single(w) && !mayBeOn(w, p, p.promised) {
			continue
		}
		promised = append(promised, seat{p, p.promised})
		for _, q := range w.running {
			victim := q.Terminating && q.Preempted && !w.timedOut(q)
			waits = waits || victim && q.Node == p.promised.Name && q.priority < w.request.Priority
		}
	}
	return placed(w, preemption.Wait, promised), waits && w.config.Mode == placement.ModeInPlace
}

// RetryAt returns "the first instant after Now at which the outcome is Fits or Preempt if nothing but time changes",
// zero if there is none. It tries each instant at which a protection or a wait is over.
func RetryAt(c placement.Config, st placement.State, r placement.Request) time.Time {
	for _, at := range newWorld(c, st, r, r.Now).Instants() {
		later := r
		later.Now = at
		if d := decideAt(c, st, later, at); d.Outcome.Possible() {
			return at
		}
	}
	return time.Time{}
}

// lastInstant: times are "within the years 1678 to 2262".
var lastInstant = time.Unix(0, math.MaxInt64)

// Instants lists what may end a wait: "minimum runtimes and guards end, and the wait for terminating pods ends". Each rule holds until an instant,
// and not a nanosecond longer.
func (w *World) Instants() (list []time.Time) {
	for _, u := range w.units() {
		runtime, _ := minRuntimeOf(w, u)
		guard, _ := guarded(w, u)
		list = append(list, runtime.Add(1), guard.Add(1))
	}
	for _, p := range w.running {
		if p.Terminating && w.request.TerminationTimeout > 0 && !p.TerminatingSince.IsZero() {
			list = append(list, p.TerminatingSince.Add(w.request.TerminationTimeout))
		}
	}
	list = slices.DeleteFunc(list, func(t time.Time) bool { return !t.After(w.request.Now) || t.After(lastInstant) })
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}
