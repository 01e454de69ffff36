// Package workload holds the facts about what runs or waits: identity, priority, timestamps, and
// what the pod sets take; and pods, pod groups, nodes and disruption budgets. It has no rules of
// queues and no algorithm.
//
//	w := workload.Workload{
//		ID: "ns/train", Queue: "team-a", Priority: 10, Queued: now,
//		PodSets: []workload.PodSet{{Name: "main", Count: 4, Requests: []quota.Amount{{Resource: "gpu", Amount: 2}}}},
//	}
//
// These are plain values that the caller fills from the objects of a cluster; the bridges under
// examples/bridge do. A [Workload] counts against quota (package preemption), a [Pod] and a
// [PodGroup] take room on a [Node] (package placement). Amounts are those of one pod, in the units
// of package quota.
//
// A field that is not set says the least: no priority is 0, no timestamp is "long ago" or "just
// now" as its comment says, a pod set without MinCount is not elastic. The zero Workload is not
// valid: it has no ID and no queue.
//
// [Validate], and the Validate methods of the others, return everything that is wrong, as a
// preemption.Faults with paths. Snapshots validate what they are given, so that a caller need not.
//
// Sources: Kueue's Workload (v1beta2), Kubernetes' Pod, PodGroup (KEP-5710) and
// PodDisruptionBudget; elastic workloads as in KAI.
package workload

import (
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/quota"
)

// Workload is a unit of admission: it is admitted as a whole or not at all. The zero value is
// not valid; see [Validate].
type Workload struct {
	// ID names the workload, "namespace/name" on Kubernetes. It is unique among the workloads
	// of a state and is the last key of every order.
	ID string `json:"id"`
	// UID breaks ties before the ID does, as in Kueue. It may be empty.
	UID string `json:"uid,omitempty"`
	// Queue is the queue in which the workload runs or waits.
	Queue string `json:"queue"`
	// LocalQueue is the queue that the workload was submitted to, if that is another one:
	// "namespace/name" of Kueue's LocalQueue. Only the order of candidates depends on it (see
	// preemption.Request.LocalQueueUsage), and the scope WithinLocalQueue of package rules.
	LocalQueue string `json:"localQueue,omitempty"`
	// Labels are the labels of the workload, which the selectors of package rules read. Keys
	// must not be empty.
	Labels map[string]string `json:"labels,omitempty"`
	// PriorityClass is the name of the priority class from which Priority comes, of whatever
	// kind. Only package rules reads it. Empty: none.
	PriorityClass string `json:"priorityClass,omitempty"`
	// Priority is the priority; higher is more important. It may be negative.
	Priority int64 `json:"priority,omitzero"`
	// PriorityBoost is added to Priority wherever a priority is compared.
	PriorityBoost int64 `json:"priorityBoost,omitzero"`
	// Created is when the workload was submitted. Only the times of rules read it (see rules.Times).
	// Zero: not known.
	Created time.Time `json:"created,omitzero"`
	// Queued is the queue-order timestamp: it orders workloads of equal priority, earlier
	// first. Usually it is Created, or the time of a later requeue. Zero: not known, counts as
	// the newest, after all others; see [CompareQueued].
	Queued time.Time `json:"queued,omitzero"`
	// ReservedAt is when quota was reserved for the workload; rules about running time count
	// from it. Zero: not known, counts as the newest that has run, as reserved just now. It has
	// no meaning for a workload that waits.
	ReservedAt time.Time `json:"reservedAt,omitzero"`
	// AdmittedAt is when the workload was admitted: with quota reserved and all admission checks
	// passed, as the condition Admitted of Kueue says. Only minruntime.Protection counts from it.
	// Zero: not admitted, or not known. It has no meaning for a workload that waits.
	AdmittedAt time.Time `json:"admittedAt,omitzero"`
	// Evicted says that the workload was told to stop and still holds its quota. Evicted
	// workloads are the first candidates of every later decision: if those that the policies
	// permit are enough, nothing else is told to stop.
	Evicted bool `json:"evicted,omitzero"`
	// NeverYields says that the workload is never a victim, nor any surplus replica of it,
	// whatever the policies permit. It has no meaning for a workload that waits, or that is
	// Evicted: that one leaves anyway. While it waits only fair shares read it (preemption.KAI).
	NeverYields bool `json:"neverYields,omitzero"`
	// NeverPreempts says that no other may yield for the workload: while it waits, only flavors
	// in which it fits are considered. It has no meaning for a workload that runs.
	NeverPreempts bool `json:"neverPreempts,omitzero"`
	// PodSets is what the workload takes. A workload without pod sets takes nothing.
	PodSets []PodSet `json:"podSets,omitempty"`
	// Gates keep the workload from preempting while one of them is closed. They have no
	// meaning for a workload that runs.
	Gates gate.Gates `json:"gates,omitzero"`
	// Loss is what is known of what the workload loses if it yields. It has no meaning for a
	// workload that waits.
	Loss Loss `json:"loss,omitzero"`
}

// AtLeast returns a minimum of replicas. A negative one is refused where it is used.
func AtLeast(replicas int64) quota.OptionalInt64 { return quota.Some(replicas) }

// PodSet is a number of equal replicas.
type PodSet struct {
	// Name is unique in the workload.
	Name string `json:"name"`
	// Count is the number of replicas that run or wait. With zero replicas the pod set takes
	// nothing, but the flavors of Requests still count as used.
	Count int64 `json:"count"`
	// Requests is what one replica takes: milli-CPU for cpu, base units for everything else.
	// The flavor is the assigned one; while the workload waits it may be empty, to be
	// assigned by a decision. An entry of zero says that the flavor is assigned although
	// nothing of it is taken. At most one entry for each flavor and resource.
	Requests []quota.Amount `json:"requests"`
	// Totals says that Requests is what all replicas take together: Count then only tells how
	// many they are. It is for callers that know totals alone, which Count need not divide (what
	// is left after some replicas gave their quota back, or a rounded sum). What a replica takes
	// is not known: the pod set has no MinCount and no Terminating, edits do not shrink it, and
	// partial admission leaves none of its replicas out.
	Totals bool `json:"totals,omitzero"`
	// MinCount makes the pod set elastic: replicas over the minimum may be preempted one by
	// one; the minimum leaves only with the whole workload. The zero value is not elastic.
	MinCount quota.OptionalInt64 `json:"minCount,omitzero"`
	// NodeConstraints say on which nodes the pods may run. They decide which flavors are
	// eligible for requests without a flavor; other requests do not read them. Nil: no
	// constraints.
	NodeConstraints *NodeConstraints `json:"nodeConstraints,omitempty"`
	// Terminating is the number of replicas, of Count, that were told to stop and still hold
	// their quota. They are as an evicted workload: the first candidates of every later
	// decision, all together. It is zero for a workload that waits.
	Terminating int64 `json:"terminating,omitzero"`
}

// Total returns what all replicas take of a resource together if amount is what Requests says:
// Count × amount, or the amount with Totals. It saturates.
func (p *PodSet) Total(amount int64) int64 {
	if p.Totals {
		return amount
	}
	return quota.Mul(p.Count, amount)
}

// Surplus returns the number of replicas over the minimum, without those that are leaving;
// zero if the pod set is not elastic.
func (p *PodSet) Surplus() int64 {
	minimum, elastic := p.MinCount.Get()
	if !elastic {
		return 0
	}
	return max(0, p.Count-p.Terminating-minimum)
}

// EffectivePriority returns Priority + PriorityBoost, saturating.
func (w *Workload) EffectivePriority() int64 {
	const lowest = -1 << 63
	switch sum := w.Priority + w.PriorityBoost; {
	case w.PriorityBoost > 0 && sum < w.Priority:
		return quota.Unlimited
	case w.PriorityBoost < 0 && sum > w.Priority:
		return lowest
	default:
		return sum
	}
}

// Usage returns what the workload takes as a whole: the [PodSet.Total] of all pod sets, one
// entry for each column, sorted by flavor and resource, with entries of zero. Sums saturate.
func (w *Workload) Usage() []quota.Amount {
	most := 0
	for i := range w.PodSets {
		most += len(w.PodSets[i].Requests)
	}
	if most == 0 {
		return nil
	}
	usage := make([]quota.Amount, 0, most)
	for i := range w.PodSets {
		for _, r := range w.PodSets[i].Requests {
			r.Amount = w.PodSets[i].Total(r.Amount)
			at, found := slices.BinarySearchFunc(usage, r, func(a, b quota.Amount) int {
				return a.FlavorResource().Compare(b.FlavorResource())
			})
			if found {
				usage[at].Amount = quota.Add(usage[at].Amount, r.Amount)
			} else {
				usage = slices.Insert(usage, at, r)
			}
		}
	}
	return usage
}

// CompareQueued orders queue-order timestamps: earlier first, and those that are not known,
// which are zero, last. It returns -1, 0 or 1.
func CompareQueued(a, b time.Time) int {
	switch {
	case a.IsZero() == b.IsZero():
		return a.Compare(b)
	case a.IsZero():
		return 1
	}
	return -1
}

// Clone returns a copy that shares nothing with w.
func (w *Workload) Clone() Workload {
	c := *w
	c.PodSets = clonePodSets(w.PodSets)
	c.Labels = maps.Clone(w.Labels)
	c.Gates, c.Loss = w.Gates.Clone(), w.Loss.Clone()
	return c
}

func clonePodSets(podSets []PodSet) []PodSet {
	if len(podSets) == 1 && (len(podSets[0].Requests) == 1 || len(podSets[0].Requests) == 2) { // so are most: one allocation
		c := &struct {
			podSets  [1]PodSet
			requests [2]quota.Amount
		}{podSets: [1]PodSet(podSets)}
		n := copy(c.requests[:], podSets[0].Requests)
		c.podSets[0].Requests = c.requests[:n:n]
		c.podSets[0].NodeConstraints = c.podSets[0].NodeConstraints.Clone()
		return c.podSets[:]
	}
	c := slices.Clone(podSets)
	for i := range c {
		c[i].Requests = slices.Clone(c[i].Requests)
		c[i].NodeConstraints = c[i].NodeConstraints.Clone()
	}
	return c
}
