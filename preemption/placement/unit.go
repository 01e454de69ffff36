package placement

import (
	"github.com/cedesched/cede/internal/engine/nodes"
	"github.com/cedesched/cede/workload"
)

// Unit is what is evicted together: a pod, or all running pods of a group of mode
// PodGroup (KEP-5710, Preemption unit).
type Unit struct {
	// Group is the ID of the group that is a unit; empty for a pod by itself.
	Group string `json:"group,omitempty"`
	// Pods is its pods, by UID and ID.
	Pods []workload.Pod `json:"pods"`
	// Priority is the one that counts: the group's, if the group is in the snapshot.
	Priority int32 `json:"priority"`
}

// unitOf is a unit as callers see it.
func unitOf(u *nodes.Unit) Unit {
	out := Unit{Group: u.Group, Priority: u.Priority}
	for _, p := range u.Pods {
		out.Pods = append(out.Pods, p.Facts.Clone())
	}
	return out
}

// Units returns the units of what runs, the most important first.
func (s *Snapshot) Units() []Unit {
	units := s.inside().Units()
	out := make([]Unit, len(units))
	for i, u := range units {
		out[i] = unitOf(u)
	}
	return out
}

// Potential is a unit that a preemptor of some priority could take, anywhere in the
// cluster.
type Potential struct {
	Unit
	// Violations is how many of its pods would be evicted against a budget, if all that
	// are more important were evicted too.
	Violations int `json:"violations,omitempty"`
}

// PotentialVictims returns the units of lower priority in the order in which they are put
// back: those first that violate a budget, and of both kinds the most important first.
// Pods that terminate count as they run.
func (s *Snapshot) PotentialVictims(priority int32) []Potential {
	units, violations := s.inside().PotentialVictims(priority)
	var out []Potential
	for i, u := range units {
		out = append(out, Potential{unitOf(u), violations[i]})
	}
	return out
}
