package state

import (
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Pod is a pod in a snapshot. It is immutable.
type Pod struct {
	Node     int32 // number
	Priority int32 // the priority that counts
	Takes    []Amount
	Budgets  []int32  // the slots of the budgets that cover it, in order
	Single   *Unit    // the unit that the pod is by itself; nil for a member of a larger unit
	Minimum  [2]int64 // by kind: its minimum runtime or that of its group; UnsetMinimum: neither has one
	Queue    string   // the queue that counts
	surplus  bool     // it runs over the minimum of its group
	alike    *alike   // what it shares with pods of its template; nil: not known
	Facts    workload.Pod
}

func (p *Pod) id() string { return p.Facts.ID }

// unitPod is a pod that is a unit, both in one place: a search reads many pods in random order.
type unitPod struct {
	unit Unit
	list [1]*Pod
	pod  Pod
}

// makeUnit makes the pod a unit by itself.
func (p *unitPod) makeUnit() {
	p.list[0] = &p.pod
	p.unit.fill("", p.list[:])
	p.pod.Single = &p.unit
}

// podWithUnit is a unitPod with slices of its own. Pods that are made together share slices.
type podWithUnit struct {
	unitPod
	budgets [1]int32
	takes   [3]Amount
}

// hasMinimum reports whether the pod has a minimum runtime, its own or that of its group.
func (p *Pod) hasMinimum() bool { return p.Minimum[Preempting] > 0 || p.Minimum[Reclaiming] > 0 }

// The kinds of minimum runtimes: against requests of the same queue, and of other queues.
const (
	Preempting = iota
	Reclaiming
)

// UnsetMinimum is the minimum runtime of a pod if neither the pod nor its group has one.
const UnsetMinimum = -1

// JustNow is the start of a pod with an unknown start: later than any other.
const JustNow = math.MaxInt64

// startOf returns when a pod started.
func (p *Pod) startOf() int64 {
	if p.Facts.Started.IsZero() {
		return JustNow
	}
	return instant.Of(p.Facts.Started)
}

// Rank is what a unit is made of: between equal priorities a higher rank is more important.
type Rank uint8

const (
	RankOfPod    Rank = iota // a pod that names no group
	RankOfGroup              // a pod that names one, or a group
	RankOfGroups             // a group with pods of groups below it
)

// RankOfMember returns the rank that a pod gives to its unit: the unit's is the highest of its pods.
func RankOfMember(unit, group string) Rank {
	switch {
	case unit != "" && group != unit:
		return RankOfGroups
	case group != "":
		return RankOfGroup
	}
	return RankOfPod
}

// Unit is what is evicted together: a pod, or all running pods of a group in mode PodGroup and of the groups below it
// (KEP-5710, Preemption unit). It is immutable.
type Unit struct {
	Group    string // the group that is the unit; empty for a single pod
	Pods     []*Pod // by UID and ID
	Priority int32  // the priority that counts
	Rank     Rank
	Started  int64 // the earliest start; JustNow if no start is known
	Covered  bool  // a budget covers one of its pods
	surplus  bool  // it is a pod of the surplus of its group
	// Until, by kind, is the last instant at which a minimum runtime of a pod or group protects the unit. Latest, by
	// kind, is the latest start of a pod without a minimum runtime. Unset: none.
	Until, Latest [2]int64
}

// IsSurplus reports whether the unit is a pod of the surplus of its group.
func (u *Unit) IsSurplus() bool { return u.surplus }

// NewUnit makes a unit of pods.
func NewUnit(group string, pods []*Pod) *Unit {
	u := new(Unit)
	u.fill(group, pods)
	return u
}

func (u *Unit) fill(group string, pods []*Pod) {
	none := [2]int64{instant.Unset, instant.Unset}
	*u = Unit{
		Group: group, Pods: pods, Priority: pods[0].Priority, Started: JustNow, surplus: pods[0].surplus, Until: none, Latest: none,
	}
	for _, p := range pods {
		u.Rank = max(u.Rank, RankOfMember(group, p.Facts.Group))
		u.Covered = u.Covered || len(p.Budgets) > 0
		started := instant.Of(p.Facts.Started)
		if started == instant.Unset {
			continue
		}
		u.Started = min(u.Started, started)
		if p.Facts.Terminating || p.surplus {
			continue
		}
		for kind, minimum := range p.Minimum {
			switch {
			case minimum > 0:
				u.Until[kind] = max(u.Until[kind], quota.Add(started, minimum))
			case minimum == UnsetMinimum:
				u.Latest[kind] = max(u.Latest[kind], started)
			}
		}
	}
}

// budgets appends the slots of the budgets that cover a pod of the unit to list.
func (u *Unit) budgets(list []int32) []int32 {
	for _, p := range u.Pods {
		for _, slot := range p.Budgets {
			if !slices.Contains(list, slot) {
				list = append(list, slot)
			}
		}
	}
	return list
}
