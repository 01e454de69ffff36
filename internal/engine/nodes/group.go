package nodes

import (
	"slices"

	"github.com/cedesched/cede/workload"
)

// group is a pod group in a snapshot, in the state or only named by pods. It is immutable.
type group struct {
	Facts   workload.PodGroup
	known   bool
	members []*Pod // running, by UID and ID
	// running are those that do not terminate, by ID, and last is the ID of the last one of the minimum:
	// what comes after it is surplus. Without a minimum, or with fewer pods, there is none.
	running []*Pod
	last    string
	// whole and staying are the unit of a group in mode PodGroup: with all members, and
	// without terminating ones. Nil if there is none.
	whole, staying *Unit
}

func newGroup(facts workload.PodGroup, known bool, members []*Pod) *group {
	g := &group{Facts: facts, known: known, members: members}
	if g.isElastic() {
		g.running = slices.DeleteFunc(slices.Clone(members), func(p *Pod) bool { return p.Facts.Terminating })
		slices.SortFunc(g.running, comparePods)
		g.findLast(len(g.running), func(i int) string { return g.running[i].Facts.ID })
	}
	if !g.atomic() || len(members) == 0 {
		return g
	}
	g.whole = newUnit(facts.ID, members)
	g.staying = g.whole
	if slices.ContainsFunc(members, func(p *Pod) bool { return p.Facts.Terminating }) {
		staying := slices.DeleteFunc(slices.Clone(members), func(p *Pod) bool { return p.Facts.Terminating })
		g.staying = nil
		if len(staying) > 0 {
			g.staying = newUnit(facts.ID, staying)
		}
	}
	return g
}

// isElastic reports whether the group has a minimum and may be split: then it may have surplus.
func (g *group) isElastic() bool { return g.known && !g.atomic() && g.Facts.MinCount > 0 }

// findLast finds the last pod of the minimum among so many that run, by ID.
func (g *group) findLast(running int, id func(i int) string) {
	if g.last = ""; running >= g.Facts.MinCount {
		g.last = id(g.Facts.MinCount - 1)
	}
}

// isSurplus reports whether a pod that runs in the group is surplus, also one that comes to the others.
func (g *group) isSurplus(p *workload.Pod) bool {
	return g.last != "" && !p.Terminating && p.ID > g.last
}

// IsBasic reports whether a group is in the state and is not a gang.
func (c *Cluster) IsBasic(id string) bool {
	g := c.group(id)
	return g != nil && g.known && g.Facts.Basic
}

// atomic reports whether the group is one unit.
func (g *group) atomic() bool {
	return g.known && g.Facts.DisruptionMode == workload.DisruptionModePodGroup
}
