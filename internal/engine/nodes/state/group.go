package state

import (
	"slices"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Group is a pod group in a snapshot, in the state or only named by pods. It is immutable.
type Group struct {
	Facts    workload.PodGroup
	Known    bool // it is in the state
	standing      // of its pods
	children []string
	Members  []*Pod // running, by UID and ID
	nested   []*Pod // running, of groups below it: the pods that yield with it, by UID and ID
	// running are the members that do not terminate, by ID; last is the ID of the last pod of the minimum: the pods
	// after it are surplus. Empty: the group has no minimum or too few pods.
	running []*Pod
	last    string
	// whole and staying are the unit of a group that yields whole: with all pods, and without the terminating ones.
	// Nil: there is none.
	whole, staying *Unit
}

func (g *Group) id() string { return g.Facts.ID }

// with returns the group with other pods.
func (g *Group) with(members, nested []*Pod) *Group {
	next := &Group{
		Facts: g.Facts, Known: g.Known, standing: g.standing, children: g.children, Members: members, nested: nested,
	}
	if next.isElastic() {
		next.running = withoutTerminating(members)
		slices.SortFunc(next.running, ComparePods)
		if len(next.running) >= g.Facts.MinCount {
			next.last = next.running[g.Facts.MinCount-1].Facts.ID
		}
	}
	all := members
	if len(nested) > 0 {
		all = slices.SortedFunc(slices.Values(slices.Concat(members, nested)), compareUIDs)
	}
	if g.unit != g.Facts.ID || len(all) == 0 {
		return next
	}
	next.whole = NewUnit(g.Facts.ID, all)
	next.staying = next.whole
	if slices.ContainsFunc(all, func(p *Pod) bool { return p.Facts.Terminating }) {
		next.staying = nil
		if staying := withoutTerminating(all); len(staying) > 0 {
			next.staying = NewUnit(g.Facts.ID, staying)
		}
	}
	return next
}

func withoutTerminating(pods []*Pod) []*Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p *Pod) bool { return p.Facts.Terminating })
}

// units returns the units of the group, each once: with all members, and without the terminating ones. Nil: there is
// none.
func (g *Group) units() [2]*Unit {
	if g.staying == g.whole {
		return [2]*Unit{g.whole}
	}
	return [2]*Unit{g.whole, g.staying}
}

// isElastic reports whether the group has a minimum and may be split: then it may have surplus.
func (g *Group) isElastic() bool { return g.Known && g.unit == "" && g.Facts.MinCount > 0 }

// isSurplus reports whether a running pod of the group is surplus, also a pod that is added to the group.
func (g *Group) isSurplus(p *workload.Pod) bool {
	return g.last != "" && !p.Terminating && p.ID > g.last
}

// UnitIn returns the unit of a running pod. The group that the pod yields with counts if the pod is no unit by itself.
// If staying is set, the unit has no terminating pods; nil: all of them terminate.
func (p *Pod) UnitIn(g *Group, staying bool) *Unit {
	switch {
	case staying && p.Facts.Terminating:
		return nil
	case p.Single != nil:
		return p.Single
	case staying:
		return g.staying
	}
	return g.whole
}

// belong takes over what the group of a pod decides; nil: it has no group.
func (p *Pod) belong(g *Group) {
	p.Priority, p.Queue, p.surplus = p.Facts.Priority, p.Facts.Queue, false
	if g != nil && g.Known {
		p.Priority, p.Queue, p.surplus = g.priority, g.queue, g.isSurplus(&p.Facts)
	}
	p.Minimum = minimumsOf(&p.Facts, g)
}

// isAlone reports whether a pod of the group is a unit by itself; nil: the pod has no group.
func (g *Group) isAlone() bool { return g == nil || g.unit == "" }

// minimumsOf returns the minimum runtimes of a pod by kind: its own, or else that of its group or the nearest above it.
func minimumsOf(p *workload.Pod, g *Group) (minimum [2]int64) {
	own := [...]quota.OptionalDuration{p.MinRuntime, p.ReclaimMinRuntime}
	for kind := range minimum {
		if minimum[kind] = int64(own[kind].Or(UnsetMinimum)); minimum[kind] == UnsetMinimum && g != nil && g.Known {
			minimum[kind] = int64(g.minimum[kind].Or(UnsetMinimum))
		}
	}
	return minimum
}
