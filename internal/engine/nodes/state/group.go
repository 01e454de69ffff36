package state

import (
	"slices"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Group is a pod group in a snapshot, in the state or only named by pods. It is immutable.
type Group struct {
	Facts   workload.PodGroup
	Known   bool   // it is in the state
	Members []*Pod // running, by UID and ID
	// running are the members that do not terminate, by ID; last is the ID of the last pod of the minimum: the pods
	// after it are surplus. Empty: the group has no minimum or too few pods.
	running []*Pod
	last    string
	// whole and staying are the unit of a group in mode PodGroup: with all members, and without the terminating ones.
	// Nil: there is none.
	whole, staying *Unit
}

func (g *Group) id() string { return g.Facts.ID }

func newGroup(facts workload.PodGroup, known bool, members []*Pod) *Group {
	g := &Group{Facts: facts, Known: known, Members: members}
	if g.isElastic() {
		g.running = withoutTerminating(members)
		slices.SortFunc(g.running, ComparePods)
		if len(g.running) >= facts.MinCount {
			g.last = g.running[facts.MinCount-1].Facts.ID
		}
	}
	if !g.isAtomic() || len(members) == 0 {
		return g
	}
	g.whole = NewUnit(facts.ID, members)
	g.staying = g.whole
	if slices.ContainsFunc(members, func(p *Pod) bool { return p.Facts.Terminating }) {
		g.staying = nil
		if staying := withoutTerminating(members); len(staying) > 0 {
			g.staying = NewUnit(facts.ID, staying)
		}
	}
	return g
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
func (g *Group) isElastic() bool { return g.Known && !g.isAtomic() && g.Facts.MinCount > 0 }

// isSurplus reports whether a running pod of the group is surplus, also a pod that is added to the group.
func (g *Group) isSurplus(p *workload.Pod) bool {
	return g.last != "" && !p.Terminating && p.ID > g.last
}

// isAtomic reports whether the group is one unit.
func (g *Group) isAtomic() bool {
	return g.Known && g.Facts.DisruptionMode == workload.DisruptionModePodGroup
}

// UnitIn returns the unit of a running pod. The group counts if the pod is no unit by itself. If staying is set, the
// unit has no terminating pods; nil: all of them terminate.
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
		p.Priority, p.Queue, p.surplus = g.Facts.Priority, g.Facts.Queue, g.isSurplus(&p.Facts)
	}
	p.Minimum = minimumsOf(&p.Facts, g)
}

// minimumsOf returns the minimum runtimes of a pod by kind: its own, or else that of its group.
func minimumsOf(p *workload.Pod, g *Group) (minimum [2]int64) {
	own, ofGroup := [...]quota.OptionalDuration{p.MinRuntime, p.ReclaimMinRuntime}, [2]quota.OptionalDuration{}
	if g != nil && g.Known {
		ofGroup = [...]quota.OptionalDuration{g.Facts.MinRuntime, g.Facts.ReclaimMinRuntime}
	}
	for kind := range minimum {
		minimum[kind] = int64(own[kind].Or(ofGroup[kind].Or(UnsetMinimum)))
	}
	return minimum
}
