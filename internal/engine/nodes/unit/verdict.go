package unit

import (
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/quota"
)

// Rule is a rule that keeps a unit from yielding. Zero: none does.
type Rule uint8

const (
	Priority    Rule = 1 + iota // the priority of the unit is not lower
	MinRuntime                  // a minimum runtime is not over
	Guarded                     // the guard of the caller
	Terminating                 // all its pods terminate, or a pod terminates for too long
	Budget                      // a budget that must not be violated; it depends on other victims, so no verdict names it
)

// Never is the end of a protection without end.
const Never = math.MaxInt64

// Verdict says whether a unit may yield.
type Verdict struct {
	Rule  Rule  // that keeps the unit from yielding; zero: it may yield
	Until int64 // the last instant at which the rule holds
	Last  int64 // the last instant at which some rule holds
}

// Verdict says whether a unit may yield at an instant. Strictly after the end of a protection it may.
func (r *Rules) Verdict(u *state.Unit, at int64) Verdict {
	switch {
	case u.Priority >= r.Priority:
		return Verdict{Priority, Never, Never}
	case r.AsBuilt && r.Request.TerminationTimeout > 0 && slices.ContainsFunc(u.Pods, r.Stuck):
		return Verdict{Terminating, Never, Never}
	}
	runtime, guard := r.runtimeUntil(u), r.GuardUntil(u)
	switch last := max(runtime, guard); {
	case runtime != instant.Unset && runtime >= at:
		return Verdict{MinRuntime, runtime, last}
	case guard != instant.Unset && guard >= at:
		return Verdict{Guarded, guard, last}
	}
	return Verdict{}
}

// VerdictOf is Verdict for the unit of a running pod. A unit of which all pods terminate can not yield: it was told
// to.
func (r *Rules) VerdictOf(p *state.Pod, at int64) (*state.Unit, Verdict) {
	if u := r.UnitOf(p); u != nil {
		return u, r.Verdict(u, at)
	}
	return r.Cluster.UnitOf(p), Verdict{Terminating, Never, Never}
}

// MayYield reports whether a unit may yield now.
func (r *Rules) MayYield(u *state.Unit) bool { return r.Verdict(u, r.Now).Rule == 0 }

// Any reports whether a rule besides the priority may keep a unit from yielding.
func (r *Rules) Any() bool {
	return r.Request.Rules.Guard != nil || r.AsBuilt && r.Request.TerminationTimeout > 0 || r.anyMinimum()
}

// AnyEnds reports whether time may end a protection.
func (r *Rules) AnyEnds() bool { return r.Request.Rules.Guard != nil || r.anyMinimum() }

// anyMinimum reports whether a minimum runtime may protect a unit.
func (r *Rules) anyMinimum() bool {
	minimum := &r.Config.MinRuntime
	return r.Cluster.HasMinimums() || minimum[state.Preempting] > 0 || minimum[state.Reclaiming] > 0 && r.Request.Queue != ""
}

// kindOf returns which minimum runtimes count for a unit: against reclaims, if the request is of another queue. All
// pods of a unit are of one queue.
func (r *Rules) kindOf(u *state.Unit) int {
	if queue := u.Pods[0].Queue; queue != r.Request.Queue && queue != "" && r.Request.Queue != "" {
		return state.Reclaiming
	}
	return state.Preempting
}

// runtimeUntil returns the last instant at which minimum runtimes protect a unit: the latest of all its pods; Unset
// if they do not. Pods without a minimum runtime have the default.
func (r *Rules) runtimeUntil(u *state.Unit) int64 {
	kind := r.kindOf(u)
	if minimum := r.Config.MinRuntime[kind]; minimum > 0 && u.Latest[kind] != instant.Unset {
		return max(u.Until[kind], quota.Add(u.Latest[kind], minimum))
	}
	return u.Until[kind]
}

// GuardUntil returns the last instant at which the guard protects a unit. The guard is asked once for each unit.
func (r *Rules) GuardUntil(u *state.Unit) int64 {
	if r.Request.Rules.Guard == nil {
		return instant.Unset
	}
	until, known := r.guarded[u]
	if !known {
		if r.guarded == nil {
			r.guarded = map[*state.Unit]int64{}
		}
		until = r.Request.Rules.Guard(u)
		r.guarded[u] = until
	}
	return until
}

// Source says what sets the minimum runtime of a pod.
type Source uint8

const (
	Default Source = iota
	OwnPod
	OwnGroup
)

// SetBy returns the pod of which the minimum runtime protects a unit until an instant, and what sets it.
func (r *Rules) SetBy(u *state.Unit, until int64) (*state.Pod, Source) {
	kind := r.kindOf(u)
	for _, p := range u.Pods {
		started, minimum := instant.Of(p.Facts.Started), p.Minimum[kind]
		if minimum == state.UnsetMinimum {
			minimum = r.Config.MinRuntime[kind]
		}
		if p.Facts.Terminating || started == instant.Unset || minimum <= 0 || quota.Add(started, minimum) != until {
			continue
		}
		_, own := [...]quota.OptionalDuration{p.Facts.MinRuntime, p.Facts.ReclaimMinRuntime}[kind].Get()
		switch {
		case own:
			return p, OwnPod
		case p.Minimum[kind] != state.UnsetMinimum:
			return p, OwnGroup
		}
		return p, Default
	}
	return nil, Default
}
