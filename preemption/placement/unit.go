package placement

import (
	"github.com/cedesched/cede/internal/engine/nodes/budget"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Unit is what is evicted together: a pod, or all running pods of a group in mode PodGroup and of the groups below it
// (KEP-5710, Preemption unit).
type Unit struct {
	// Group is the ID of the group that is the unit; empty for a single pod.
	Group string `json:"group,omitempty"`
	// Pods are its pods, by UID and ID.
	Pods []workload.Pod `json:"pods"`
	// Priority is the priority that counts: that of the root of its groups, if the group is in the snapshot.
	Priority int32 `json:"priority"`
}

// ID returns the ID of its group, or of its only pod; empty for the zero value.
func (u *Unit) ID() string {
	if u.Group != "" || len(u.Pods) == 0 {
		return u.Group
	}
	return u.Pods[0].ID
}

// IsAlike reports whether two units are equal in what importance (step 3 in the comment of the package) looks at before the start:
// priority; pod, group or group of groups; number of pods.
func (u *Unit) IsAlike(v *Unit) bool {
	return u.Priority == v.Priority && u.rank() == v.rank() && len(u.Pods) == len(v.Pods)
}

func (u *Unit) rank() (rank state.Rank) {
	for i := range u.Pods {
		rank = max(rank, state.RankOfMember(u.Group, u.Pods[i].Group))
	}
	return rank
}

// unitOf returns a unit in the form that callers see.
func unitOf(u *state.Unit) Unit {
	out := Unit{Group: u.Group, Priority: u.Priority}
	for _, p := range u.Pods {
		out.Pods = append(out.Pods, p.Facts.Clone())
	}
	return out
}

// Units returns the units that run, the most important first.
func (s *Snapshot) Units() []Unit {
	units := s.inside().Units()
	out := make([]Unit, len(units))
	for i, u := range units {
		out[i] = unitOf(u)
	}
	return out
}

// PotentialVictim is a unit that a preemptor of some priority could preempt, anywhere in the cluster.
type PotentialVictim struct {
	Unit
	// Violations is the number of its pods that would be evicted against a budget if all more important units were
	// evicted, too.
	Violations int `json:"violations,omitempty"`
}

// PotentialVictims returns the units of lower priority in the order in which they are put back: first those that
// violate a budget ([Config.Charge] says how pods are charged), then the others; in both the most important first, by the
// built-in order. Terminating pods count as running.
func (p *Preemptor) PotentialVictims(s *Snapshot, priority int32) []PotentialVictim {
	if p == nil {
		p = &standard
	}
	units, violations := budget.PotentialVictims(s.inside(), priority, p.inside.FirstViolated)
	var out []PotentialVictim
	for i, u := range units {
		out = append(out, PotentialVictim{unitOf(u), violations[i]})
	}
	return out
}
