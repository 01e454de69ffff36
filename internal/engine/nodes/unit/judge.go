package unit

import (
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Judge says which units may yield to one request, and until when a rule keeps the others.
type Judge struct {
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
	recent   *state.Group          // the group that pods of the group recentOf yield with
	recentOf string
}

// Begin sets the judge up for a request.
func (j *Judge) Begin(config *ask.Config, c *state.Cluster, request *ask.Request) {
	j.Cluster, j.Config, j.Request = c, config, request
	j.Priority, j.Now, j.AsBuilt = request.Priority, instant.Of(request.Now), config.Mode != ask.Design
	j.Compare = state.CompareUnits
	if order := request.Rules.Importance; order != nil {
		j.Compare = func(a, b *state.Unit) int {
			if order := order(a, b); order != 0 {
				return order
			}
			return state.CompareUnits(a, b)
		}
	}
	j.promised = slices.ContainsFunc(request.Pods, func(p workload.Pod) bool { return c.PromisedPod(p.ID) != nil })
}

// End drops the references to the cluster and the request.
func (j *Judge) End() {
	clear(j.guarded)
	*j = Judge{guarded: j.guarded}
}

// Highest is the highest priority that may yield.
func (j *Judge) Highest() int64 { return int64(j.Priority) - 1 }

// IsPromised reports whether a pod of the request is nominated.
func (j *Judge) IsPromised() bool { return j.promised }

// IsMember reports whether a waiting pod that is nominated is a pod of the request.
func (j *Judge) IsMember(id string) bool {
	return j.promised && slices.ContainsFunc(j.Request.Pods, func(p workload.Pod) bool { return p.ID == id })
}

// IsAhead reports whether the nomination of a waiting pod holds against the request.
func (j *Judge) IsAhead(p *state.Pod) bool {
	return p.Priority >= j.Priority && !j.IsMember(p.Facts.ID)
}

// Stuck reports whether a terminating pod counts as running: it terminates for longer than the timeout, or, in the
// design, it was not preempted and its priority is not lower. (KEP-5710, Delayed preemption: a preemptor waits for
// the triggered preemptions.)
func (j *Judge) Stuck(p *state.Pod) bool {
	if !p.Facts.Terminating {
		return false
	}
	if !j.AsBuilt && !j.Request.AwaitsAll && !p.Facts.Preempted && p.Priority >= j.Priority {
		return true
	}
	since, timeout := p.Facts.TerminatingSince, j.Request.TerminationTimeout
	return timeout > 0 && !since.IsZero() && j.Request.Now.Sub(since) >= timeout
}

// UnitOf returns the unit of a running pod, in the design without terminating pods; nil: all of its pods terminate.
// Pods of a group often come one after the other.
func (j *Judge) UnitOf(p *state.Pod) *state.Unit {
	if p.Single == nil && (j.recent == nil || j.recentOf != p.Facts.Group) {
		j.recent, j.recentOf = j.Cluster.YieldsWith(p.Facts.Group), p.Facts.Group
	}
	return p.UnitIn(j.recent, !j.AsBuilt)
}

// IsCurrent reports whether a unit of an index of the cluster has the pods that it has in this decision: with or
// without terminating ones.
func (j *Judge) IsCurrent(u *state.Unit) bool { return j.UnitOf(u.Pods[0]) == u }
