package placement

import (
	"time"

	"github.com/cedesched/cede/workload"
)

// PreemptionPolicy is the policy of a priority class, as Kubernetes names it. The zero value is PreemptLowerPriority.
type PreemptionPolicy uint8

const (
	// PreemptLowerPriority permits preempting units of lower priority.
	PreemptLowerPriority PreemptionPolicy = iota
	// PreemptNever permits no preemption: the pods wait.
	PreemptNever
)

// Request asks whether a pending pod or pod group has room, and if not, who must yield. The zero value is invalid.
type Request struct {
	// Group is the pending pod group; of nested groups the one of which the pods wait, mostly the root. Empty: the
	// request is for the single pod in Pods, which may be in a group ([workload.Pod.Group]) and stays in it. The pods of
	// a group that is Basic in the snapshot are decided about one after the other: if some fit now, these are placed; if
	// none does, each preempts or waits alone. (In [ModeInPlace] they are decided about together.)
	Group string `json:"group,omitempty"`
	// Priority is the priority of the group, or of the single pod. If the group is in the snapshot, it must be equal
	// to the priority that counts there: that of its root.
	Priority int32 `json:"priority,omitempty"`
	// Queue is the queue of the group, or of the single pod. Pods of other queues yield to the request by reclaim,
	// all others by preemption: that decides which of their minimum runtimes counts ([workload.Pod.MinRuntime]).
	// Empty: no queue; nothing is reclaimed. If the group is in the snapshot, it must be equal to that of its root.
	Queue string `json:"queue,omitempty"`
	// Policy is the policy of the priority class of the group or pod.
	Policy PreemptionPolicy `json:"policy,omitzero"`
	// MinCount is the number of Pods that must have room. If fewer fit, none is placed. Zero: any number. For a
	// single pod and for a Basic group it is zero or 1.
	MinCount int `json:"minCount,omitempty"`
	// MinGroups is how many of the groups directly below Group must get what they need ([NestedGroup]). If fewer do, no pod
	// is placed. Zero: any number. (As built in Kubernetes v1.37: minGroupCount of a composite pod group.)
	MinGroups int `json:"minGroups,omitempty"`
	// Nested say what groups below Group need. A group that is not listed needs one pod. With Nested or MinGroups
	// the pods of a group are placed before those of the groups below it, and these in the order of their first pods.
	// They are an error with a Placer, and for a Basic group except in [ModeInPlace].
	Nested []NestedGroup `json:"nested,omitempty"`
	// Pods are the waiting pods, in the order in which they are placed. Their Group, if not empty, must be that of the
	// request or below it. Their own Priority is ignored if they are in a group (KEP-5710, Pod Group priorities);
	// that of a pod without one, if not zero, must be equal to the priority of the request. The same holds for their
	// Queue. Pods that are also in [State.Nominated] have a nomination.
	Pods []workload.Pod `json:"pods"`
	// Resize says that the only pod runs and is to be resized in place: its Requests are those that it is to have, what it
	// has now is free for them, and its node, also an unschedulable one, is the only one. Nothing is nominated: if it fits,
	// it runs with its new requests ([Decision.Edits]). Its ID and Requests are read, all else is that of the pod that
	// runs. [Preemptor.Decide], [Preemptor.Placements] and [Preemptor.Choose] know it.
	Resize bool `json:"resize,omitempty"`
	// Domains splits the cluster for a group, for instance into racks: the group is placed within one of them. Empty:
	// the whole cluster is one domain; for no place at all give one domain without nodes. For a single pod, and for
	// each pod of a Basic group except in [ModeInPlace], every node is a domain, and Domains must be empty.
	Domains []Domain `json:"domains,omitempty"`
	// DomainsPreferred says that Domains are preferred, not required: the group is on the nodes of all of them, which are
	// tried domain after domain, if it fits there now and in none of them, or if none of them has room by preemption.
	// [Placement.Domain] is then empty.
	DomainsPreferred bool `json:"domainsPreferred,omitempty"`
	// Prefer lists names of nodes in the order in which placement tries them, and in which equally good domains of a
	// single pod are chosen; the others follow by name.
	Prefer []string `json:"prefer,omitempty"`
	// SkipFit says that the caller's scheduler has already failed to place the pods: only preemption is considered.
	// For a single pod a node on which no unit has to yield is then no candidate (as built: preemption could not help
	// there). Without SkipFit a request that fits now preempts no unit.
	SkipFit bool `json:"skipFit,omitempty"`
	// MaxDomains limits how many domains with victims are compared for a single pod. Sampling starts at FirstNode,
	// wraps around, and stops after MaxDomains of them if one violates no budget; of those that violate one, at most
	// MaxDomains are looked at (in kube-scheduler: the number of candidates). Zero: no limit; negative is an error.
	MaxDomains int `json:"maxDomains,omitempty"`
	// FirstNode is where the sampling starts, modulo the number of nodes that can be domains by [workload.Pod.Nodes].
	// Negative is an error.
	FirstNode int `json:"firstNode,omitempty"`
	// Filters and SetFilters are rules about where the pods of this request may run, besides those of the [Config].
	// They are asked as late as possible: about a node on which there is room, when the search gets there. A nil
	// entry is an error. JSON leaves them out.
	Filters    []Filter    `json:"-"`
	SetFilters []SetFilter `json:"-"`
	// Placer, if set, places the pods in place of [Config.Order]. JSON leaves it out.
	Placer Placer `json:"-"`
	// Now is the time of the decision. It may be zero if TerminationTimeout is zero and no minimum runtimes are set.
	Now time.Time `json:"now,omitzero"`
	// TerminationTimeout limits how long a terminating pod is waited for, from [workload.Pod.TerminatingSince] on.
	// When it has passed the pod counts as running. It is no victim, since it was told to stop already; in modes other than
	// ModeDesign its group, if it yields whole, is no victim either. Zero: no limit. In JSON: nanoseconds.
	TerminationTimeout time.Duration `json:"terminationTimeout,omitzero"`
}

// NestedGroup is what a group below that of a request needs. If it does not get that, none of its pods, nor of the groups
// below it, is placed. The zero value is invalid.
type NestedGroup struct {
	// Group is its ID: a group of the snapshot below that of the request.
	Group string `json:"group"`
	// MinCount is how many of its pods in the request, and of the pods of groups below it, must have room. Zero: one. As
	// with MinGroups, what runs already is not counted: the caller takes it off.
	MinCount int `json:"minCount,omitempty"`
	// MinGroups is how many of the groups directly below it must get what they need. Zero: any number.
	MinGroups int `json:"minGroups,omitempty"`
	// Domains are where the group, with the groups below it, is placed: within one of them, on nodes that also belong to
	// the domain of each group above it. The first one where it gets what it needs is taken, whatever runs there. Empty:
	// as the group above it.
	Domains []Domain `json:"domains,omitempty"`
	// DomainsPreferred says that the nodes of all Domains together are one more domain, the last.
	DomainsPreferred bool `json:"domainsPreferred,omitempty"`
}

// Domain is a set of nodes within which a group is placed.
type Domain struct {
	Name  string   `json:"name"`
	Nodes []string `json:"nodes"`
}
