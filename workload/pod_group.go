package workload

import (
	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
)

// PodGroup is a pod group on nodes, or a group of groups. The zero value is invalid. Priority,
// DisruptionMode and Parent cannot change while the group, or a group below it, has pods
// (KEP-5710: they are immutable).
type PodGroup struct {
	ID string `json:"id"`
	// Parent is the group that it is part of (as built in Kubernetes v1.37: a composite pod group).
	// It must be in the same state. Empty: it is a root. The root decides for all pods below it the
	// priority and the queue. A pod yields with the highest group above it of
	// DisruptionModePodGroup; that of its own group is looked at, too.
	Parent string `json:"parent,omitempty"`
	// Priority counts instead of the priorities of the pods. Zero if its priority class sets
	// none. Of nested groups that of the root counts.
	Priority       int32          `json:"priority,omitempty"`
	DisruptionMode DisruptionMode `json:"disruptionMode,omitzero"`
	// Basic says that the pods are scheduled one by one, not as a gang. With
	// DisruptionModePodGroup they still yield together, as built in Kubernetes v1.37; KEP-5710
	// forbids the two together.
	Basic bool `json:"basic,omitempty"`
	// MinCount is how many of its running pods the group needs: the first by ID. The others are its
	// surplus. Surplus pods are not protected by a minimum runtime (KAI: elastic workloads can always be
	// partially preempted), and of pods that are otherwise equally important they go first. Pods that
	// terminate do not count. Zero: all its pods, so that there is no surplus. A group of
	// DisruptionModePodGroup, or below one, has none: it is never split. Pods of groups below do not count.
	MinCount int `json:"minCount,omitempty"`
	// Queue is the queue of all its pods: see [Pod.Queue]. Of nested groups that of the root counts.
	Queue string `json:"queue,omitempty"`
	// MinRuntime and ReclaimMinRuntime are those of its pods that have none. Unset: those of the
	// nearest group above it that has them, else those of the preemptor. A group that is evicted whole is protected as long as one of its running pods is.
	MinRuntime        quota.OptionalDuration `json:"minRuntime,omitzero"`
	ReclaimMinRuntime quota.OptionalDuration `json:"reclaimMinRuntime,omitzero"`
}

// DisruptionMode says which pods of a group are evicted together (KEP-5710, Preemption unit).
// The zero value is DisruptionModePod, the default.
type DisruptionMode uint8

const (
	// DisruptionModePod: each pod alone ("Single" in newer versions of the KEP).
	DisruptionModePod DisruptionMode = iota
	// DisruptionModePodGroup: all running pods of the group and of the groups below it, on all nodes ("All").
	DisruptionModePodGroup
)

// Validate returns everything that is wrong with the group, as an error that lists each fault
// with its path under the given one: an empty ID, a parent that is the group itself, an unknown
// disruption mode, a negative minimum, negative minimum runtimes.
func (g *PodGroup) Validate(path string) error {
	var faults fault.List
	if g.ID == "" {
		faults.Add(path+".id", "is empty")
	} else if g.Parent == g.ID {
		faults.Add(path+".parent", "%q is the group itself", g.Parent)
	}
	if !disruptionNames.Valid(g.DisruptionMode) {
		faults.Add(path+".disruptionMode", "%v is unknown", g.DisruptionMode)
	}
	if g.MinCount < 0 {
		faults.Add(path+".minCount", "%d is negative", g.MinCount)
	}
	validateMinimums(&faults, path, g.MinRuntime, g.ReclaimMinRuntime)
	return faults.Err()
}
