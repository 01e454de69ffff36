package nodes

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// Package placement, Time: minimum runtimes, guards, and the wait for what terminates.

// mayYield: "Only units of strictly lower priority yield." "Strictly after the end the unit may yield."
func (w *world) mayYield(u *unit) bool {
	until, never := w.protectedUntil(u)
	return w.lower(u) && !w.isStuck(u) && !never && (until.IsZero() || w.at.After(until))
}

func (w *world) lower(u *unit) bool { return u.priority() < w.request.Priority }

// isStuck: RuleTerminating, "since a pod of the unit was told to stop, the termination timeout has passed": "in modes other
// than ModeDesign its group, if it yields whole, is no victim either".
func (w *world) isStuck(u *unit) bool { return slices.ContainsFunc(u.pods, w.timedOut) }

// protectedUntil: "A unit is protected until each of its running pods has run for its minimum runtime." "A Guard may
// also protect a unit until a time."
func (w *world) protectedUntil(u *unit) (until time.Time, never bool) {
	for _, p := range u.pods {
		if p.Terminating || p.Started.IsZero() || u.surplus {
			continue // "are not protected"
		}
		if least := w.minRuntime(p); least > 0 {
			until = later(until, p.Started.Add(least))
		}
	}
	if !w.lower(u) {
		return until, false // a guard "is asked about units of lower priority"
	}
	for _, g := range w.config.Guards {
		v := g.Verdict(w.public(u), w.request)
		end, _ := v.Until()
		until, never = later(until, end), never || v.Never()
	}
	return until, never
}

func (w *world) public(u *unit) placement.Unit {
	list := placement.Unit{Group: u.group, Priority: u.priority()}
	for _, p := range u.pods {
		list.Pods = append(list.Pods, p.Pod)
	}
	return list
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// minRuntime: "the pod's own, else that of the nearest group around it, else Config.MinRuntime. Where the request is of
// another queue than the unit, ReclaimMinRuntime counts in the same way."
func (w *world) minRuntime(p *pod) time.Duration {
	reclaim := w.request.Queue != "" && p.queue != "" && p.queue != w.request.Queue
	pick := func(preempt, reclaimed quota.OptionalDuration) quota.OptionalDuration {
		if reclaim {
			return reclaimed
		}
		return preempt
	}
	if d, set := pick(p.MinRuntime, p.ReclaimMinRuntime).Get(); set {
		return d
	}
	for _, g := range w.around(p.Group) {
		if d, set := pick(g.MinRuntime, g.ReclaimMinRuntime).Get(); set {
			return d
		}
	}
	return pick(w.config.MinRuntime, w.config.ReclaimMinRuntime).Or(0)
}

// timedOut: "TerminationTimeout limits how long a terminating pod is waited for. When it has passed the pod counts as running.
// Zero: no limit." "Zero TerminatingSince: not known; requests then wait for the pod without limit."
func (w *world) timedOut(p *pod) bool {
	limit := w.request.TerminationTimeout
	return p.Terminating && limit > 0 && !p.TerminatingSince.IsZero() && !w.at.Before(p.TerminatingSince.Add(limit))
}

// leaving lists the pods that are waited for: "So does a pod that terminates for another reason than preemption" count
// as running, "unless its priority is lower: what is waited for is that triggered preemptions are finished".
func (w *world) leaving() (list []*pod) {
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
func (w *world) waitsInPlace() (d placement.Decision, waits bool) {
	d.Outcome = preemption.Wait
	for _, p := range w.pods {
		if p.promised == nil || w.single() && !slices.Contains(p.nodes, p.promised) {
			continue
		}
		d.Nominations = append(d.Nominations, placement.Nomination{Pod: p.ID, Node: p.promised.Name})
		for _, q := range w.running {
			victim := q.Terminating && q.Preempted && !w.timedOut(q)
			waits = waits || victim && q.Node == p.promised.Name && q.priority < w.request.Priority
		}
	}
	d.Placeable = len(d.Nominations)
	return d, waits && w.config.Mode == placement.ModeInPlace
}

// RetryAt returns "the first instant after Now at which the outcome is Fits or Preempt if nothing but time changes",
// zero if there is none. It tries each instant at which a protection or a wait is over.
func RetryAt(c placement.Config, st placement.State, r placement.Request) time.Time {
	for _, at := range newWorld(c, st, r, r.Now).instants() {
		later := r
		later.Now = at
		if d := decideAt(c, st, later, at); d.Outcome.Possible() {
			return at
		}
	}
	return time.Time{}
}

// instants: "minimum runtimes and guards end, and the wait for terminating pods ends". Each rule holds until an instant,
// and not a nanosecond longer.
func (w *world) instants() (list []time.Time) {
	for _, u := range w.units() {
		if until, _ := w.protectedUntil(u); !until.IsZero() {
			list = append(list, until.Add(1))
		}
	}
	for _, p := range w.running {
		if p.Terminating && w.request.TerminationTimeout > 0 && !p.TerminatingSince.IsZero() {
			list = append(list, p.TerminatingSince.Add(w.request.TerminationTimeout))
		}
	}
	list = slices.DeleteFunc(list, func(t time.Time) bool { return !t.After(w.request.Now) })
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}
