package unit

import (
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Rules are the rules about who may yield to one request.
type Rules struct {
	Cluster  *state.Cluster
	Config   *ask.Config
	Request  *ask.Request
	Priority int32 // of the request
	Now      int64
	AsBuilt  bool // terminating pods count as running
	// Compare is the order of importance, most important first.
	Compare func(a, b *state.Unit) int

	promised bool                  // a pod of the request is nominated
	guarded  map[*state.Unit]int64 // what the guard returned
	recent   *state.Group          // the group that was looked up last
}

// Begin sets the rules up for a request.
func (r *Rules) Begin(config *ask.Config, c *state.Cluster, request *ask.Request) {
	r.Cluster, r.Config, r.Request = c, config, request
	r.Priority, r.Now, r.AsBuilt = request.Priority, instant.Of(request.Now), config.Mode != ask.Design
	r.Compare = state.CompareUnits
	if order := request.Rules.Importance; order != nil {
		r.Compare = func(a, b *state.Unit) int {
			if order := order(a, b); order != 0 {
				return order
			}
			return state.CompareUnits(a, b)
		}
	}
	r.promised = slices.ContainsFunc(request.Pods, func(p workload.Pod) bool { return c.PromisedPod(p.ID) != nil })
}

// End drops the references to the cluster and the request.
func (r *Rules) End() {
	clear(r.guarded)
	*r = Rules{guarded: r.guarded}
}

// Highest is the highest priority that may yield.
func (r *Rules) Highest() int64 { return int64(r.Priority) - 1 }

// IsPromised reports whether a pod of the request is nominated.
func (r *Rules) IsPromised() bool { return r.promised }

// IsMember reports whether a waiting pod that is nominated is a pod of the request.
func (r *Rules) IsMember(id string) bool {
	return r.promised && slices.ContainsFunc(r.Request.Pods, func(p workload.Pod) bool { return p.ID == id })
}

// IsAhead reports whether the nomination of a waiting pod holds against the request.
func (r *Rules) IsAhead(p *state.Pod) bool {
	return p.Priority >= r.Priority && !r.IsMember(p.Facts.ID)
}

// Stuck reports whether a terminating pod counts as running: it terminates for longer than the timeout, or, in the
// design, it was not preempted and its priority is not lower. (KEP-5710, Delayed preemption: a preemptor waits for
// the triggered preemptions.)
func (r *Rules) Stuck(p *state.Pod) bool {
	if !p.Facts.Terminating {
		return false
	}
	if !r.AsBuilt && !p.Facts.Preempted && p.Priority >= r.Priority {
		return true
	}
	since, timeout := p.Facts.TerminatingSince, r.Request.TerminationTimeout
	return timeout > 0 && !since.IsZero() && r.Request.Now.Sub(since) >= timeout
}

// UnitOf returns the unit of a running pod, in the design without terminating pods; nil: all of its pods terminate.
// Pods of a group often come one after the other.
func (r *Rules) UnitOf(p *state.Pod) *state.Unit {
	if p.Single == nil && (r.recent == nil || r.recent.Facts.ID != p.Facts.Group) {
		r.recent = r.Cluster.Group(p.Facts.Group)
	}
	return p.UnitIn(r.recent, !r.AsBuilt)
}

// IsCurrent reports whether a unit of an index of the cluster has the pods that it has in this decision: with or
// without terminating ones.
func (r *Rules) IsCurrent(u *state.Unit) bool { return r.UnitOf(u.Pods[0]) == u }
