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
func (j *Judge) Verdict(u *state.Unit, at int64) Verdict {
	switch {
	case u.Priority >= j.Priority:
		return Verdict{Priority, Never, Never}
	case j.AsBuilt && j.Request.TerminationTimeout > 0 && slices.ContainsFunc(u.Pods, j.Stuck):
		return Verdict{Terminating, Never, Never}
	}
	runtime, guard := j.runtimeUntil(u), j.GuardUntil(u)
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
func (j *Judge) VerdictOf(p *state.Pod, at int64) (*state.Unit, Verdict) {
	if u := j.UnitOf(p); u != nil {
		return u, j.Verdict(u, at)
	}
	return j.Cluster.UnitOf(p), Verdict{Terminating, Never, Never}
}

// AnyRule reports whether a rule besides the priority may keep a unit from yielding.
func (j *Judge) AnyRule() bool {
	return j.Request.Rules.Guard != nil || j.AsBuilt && j.Request.TerminationTimeout > 0 || j.anyMinimum()
}

// AnyEnds reports whether time may end a protection.
func (j *Judge) AnyEnds() bool { return j.Request.Rules.Guard != nil || j.anyMinimum() }

// anyMinimum reports whether a minimum runtime may protect a unit.
func (j *Judge) anyMinimum() bool {
	minimum := &j.Config.MinRuntime
	return j.Cluster.HasMinimums() || minimum[state.Preempting] > 0 || minimum[state.Reclaiming] > 0 && j.Request.Queue != ""
}

// kindOf returns which minimum runtimes count for a unit: against reclaims, if the request is of another queue. All
// pods of a unit are of one queue.
func (j *Judge) kindOf(u *state.Unit) int {
	if queue := u.Pods[0].Queue; queue != j.Request.Queue && queue != "" && j.Request.Queue != "" {
		return state.Reclaiming
	}
	return state.Preempting
}

// runtimeUntil returns the last instant at which minimum runtimes protect a unit: the latest of all its pods; Unset
// if they do not. Pods without a minimum runtime have the default.
func (j *Judge) runtimeUntil(u *state.Unit) int64 {
	kind := j.kindOf(u)
	if minimum := j.Config.MinRuntime[kind]; minimum > 0 && u.Latest[kind] != instant.Unset {
		return max(u.Until[kind], quota.Add(u.Latest[kind], minimum))
	}
	return u.Until[kind]
}

// podUntil returns the last instant at which the minimum runtime of a pod protects it, if it is no surplus; Unset if it has none.
func (j *Judge) podUntil(p *state.Pod, kind int) int64 {
	started, minimum := instant.Of(p.Facts.Started), p.Minimum[kind]
	if minimum == state.UnsetMinimum {
		minimum = j.Config.MinRuntime[kind]
	}
	if started == instant.Unset || minimum <= 0 {
		return instant.Unset
	}
	return quota.Add(started, minimum)
}

// SurplusUntil returns the last instant at which a unit that is surplus would be protected if it were not: when others of its group have
// left. Never: it is no surplus, or has no minimum runtime.
func (j *Judge) SurplusUntil(u *state.Unit) int64 {
	if until := j.podUntil(u.Pods[0], j.kindOf(u)); u.IsSurplus() && until != instant.Unset {
		return until
	}
	return Never
}

// GuardUntil returns the last instant at which the guard protects a unit. The guard is asked once for each unit.
func (j *Judge) GuardUntil(u *state.Unit) int64 {
	if j.Request.Rules.Guard == nil {
		return instant.Unset
	}
	until, known := j.guarded[u]
	if !known {
		if j.guarded == nil {
			j.guarded = map[*state.Unit]int64{}
		}
		until = j.Request.Rules.Guard(u)
		j.guarded[u] = until
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

// SetBy returns what sets the minimum runtime that protects a unit until an instant: the pod, or the group, the pod's
// own or the nearest above it.
func (j *Judge) SetBy(u *state.Unit, until int64) (id string, source Source) {
	kind := j.kindOf(u)
	for _, p := range u.Pods {
		if p.Facts.Terminating || j.podUntil(p, kind) != until {
			continue
		}
		_, own := [...]quota.OptionalDuration{p.Facts.MinRuntime, p.Facts.ReclaimMinRuntime}[kind].Get()
		switch {
		case own:
			return p.Facts.ID, OwnPod
		case p.Minimum[kind] != state.UnsetMinimum:
			return j.Cluster.KnownGroup(p.Facts.Group).MinimumSetBy(kind), OwnGroup
		}
		break
	}
	return "", Default
}
