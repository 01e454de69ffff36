package placement

import (
	"time"

	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/workload"
)

// Policy is what a priority class lets its workloads do to others. The zero value is
// PreemptLowerPriority.
type Policy uint8

const (
	// PreemptLowerPriority lets them preempt what is of lower priority.
	PreemptLowerPriority Policy = iota
	// PreemptNever lets them wait only.
	PreemptNever
)

// Request asks whether a pending pod or pod group has room, and who yields if not.
type Request struct {
	// Group is the pending pod group. Empty: the one pod in Pods is asked for, which may be
	// of a group too ([workload.Pod.Group]) and stays in it. The pods of a group that is Basic in the
	// snapshot are decided about each by itself, one after the other: those that fit
	// as things stand are placed; where none does, each preempts or waits for itself.
	Group string `json:"group,omitempty"`
	// Priority is that of the group, or of the single pod. A group of the snapshot has one
	// already: this must be the same.
	Priority int32 `json:"priority,omitempty"`
	// Policy is that of the priority class of the group or pod.
	Policy Policy `json:"policy,omitzero"`
	// MinCount is how many of Pods must have room for the group to be of use, fewer than
	// that are placed not at all. Zero: any number. For a single pod and for a group
	// that is Basic it is zero or 1.
	MinCount int `json:"minCount,omitempty"`
	// Pods is who waits, in the order in which they are placed. Their own Priority, if not
	// zero, must be that of the request, their own Group, if not empty, that of the request
	// (KEP-5710: where they differ, scheduling fails). Whoever of them is among
	// [State.Nominated] has been promised room before.
	Pods []workload.Pod `json:"pods"`
	// Domains splits the cluster for a group (racks, say): it is placed within one of
	// them. Empty: the whole cluster is one; for no place at all give one without
	// nodes. For a single pod, and for each of a group that is Basic, every node is one, and
	// this must be empty.
	Domains []Domain `json:"domains,omitempty"`
	// Prefer is names of nodes in the order in which placement tries them, and in which
	// equally good domains of a single pod are taken; then follow the others, by name.
	Prefer []string `json:"prefer,omitempty"`
	// SkipFit says that the caller's scheduler has tried and failed: the
	// preemption alone is asked for. For a single pod a node on which nobody has to yield is
	// then no candidate (as built: preemption could not help there). Otherwise what fits as
	// things stand preempts nobody.
	SkipFit bool `json:"unschedulable,omitempty"`
	// Now is the time of the decision. It may be zero where TerminationTimeout is.
	Now time.Time `json:"now,omitzero"`
	// TerminationTimeout bounds how long a pod that terminates is waited for, from
	// [workload.Pod.TerminatingSince] on. When it is over the pod counts as running; told
	// to go already, it is no victim, and in modes other than ModeDesign its group, if that
	// yields whole, is none. Zero: there is no bound. In JSON: nanoseconds.
	TerminationTimeout time.Duration `json:"terminationTimeout,omitzero"`
}

// Domain is a set of nodes within which a group is placed.
type Domain struct {
	Name  string   `json:"name"`
	Nodes []string `json:"nodes"`
}

var policyNames = enum.Names[Policy]{Type: "Policy", List: []string{"PreemptLowerPriority", "Never"}}

// String returns the name as Kubernetes has it.
func (p Policy) String() string { return policyNames.String(p) }

// MarshalText writes the name. It fails on an invalid value.
func (p Policy) MarshalText() ([]byte, error) { return policyNames.Marshal(p) }

// UnmarshalText reads a name. It fails on any other text.
func (p *Policy) UnmarshalText(text []byte) error { return policyNames.Unmarshal(text, p) }
