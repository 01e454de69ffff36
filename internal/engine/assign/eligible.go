package assign

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// A flavor is eligible for a pod set if it has the topology that the pod set asks for, the pod set tolerates
// its taints, and its labels satisfy the node selector and the required node affinity. A requirement counts only if some
// flavor of the group has a label with its key; other keys are left to the scheduler of pods
// (Kueue's flavor assigner, flavorSelector).

// Mismatch says why a flavor is not eligible: its topology, a taint that the pod set does not tolerate,
// or a requirement that the labels do not satisfy. The zero value: it is eligible.
type Mismatch struct {
	Topology    Topology
	Level       string // for NoLevel
	Taint       *workload.Taint
	Requirement *workload.LabelRequirement
}

// Topology says what is wrong with the topology of a flavor.
type Topology uint8

const (
	// SuitsTopology: nothing is.
	SuitsTopology Topology = iota
	// NoTopology: the pod set asks for one, and the flavor has none.
	NoTopology
	// NoLevel: the topology lacks a level that the pod set asks for.
	NoLevel
	// OnlyTopology: the flavor has one, the pod set asks for none, and the queue has flavors without.
	OnlyTopology
)

// None reports whether the flavor is eligible.
func (m *Mismatch) None() bool {
	return m.Topology == SuitsTopology && m.Taint == nil && m.Requirement == nil
}

// Mismatch returns the mismatch of a flavor of the group. Constraints may be nil.
func (g *Group) Mismatch(flavor int, c *workload.NodeConstraints) (m Mismatch) {
	f := g.known[flavor]
	if m = g.topology(f, c); !m.None() {
		return m
	}
	if f != nil {
		for i := range f.NodeTaints {
			if t := &f.NodeTaints[i]; t.Effect != workload.PreferNoSchedule && !tolerated(t, f.Tolerations) && (c == nil || !tolerated(t, c.Tolerations)) {
				m.Taint = t
				return m
			}
		}
	}
	if c == nil || len(g.keys) == 0 {
		return m
	}
	labels := g.labels(flavor)
	for _, key := range g.keys { // in order: the first is reported
		want, asked := c.NodeSelector[key]
		if value, has := labels[key]; asked && (!has || value != want) {
			m.Requirement = &workload.LabelRequirement{Key: key, Operator: workload.In, Values: []string{want}}
			return m
		}
	}
	m.Requirement = g.unsatisfied(c.NodeAffinity, labels)
	return m
}

// topology judges the topology of a flavor; f may be nil (Kueue's flavor assigner,
// checkPodSetAndFlavorMatchForTAS, which comes before taints and labels). Where all flavors of the queue
// have one, a pod set that does not ask is placed by it, too (IsTASOnly).
func (g *Group) topology(f *queue.Flavor, c *workload.NodeConstraints) Mismatch {
	has := f != nil && f.Topology.Name != ""
	if c == nil || c.Topology.IsZero() {
		if has && !g.onlyTopology {
			return Mismatch{Topology: OnlyTopology}
		}
		return Mismatch{}
	}
	if !has {
		return Mismatch{Topology: NoTopology}
	}
	if level := c.Topology.MissingFrom(f.Topology.Levels); level != "" {
		return Mismatch{Topology: NoLevel, Level: level}
	}
	return Mismatch{}
}

// Label returns a label of a flavor, or "" if it has none.
func (g *Group) Label(flavor int, key string) string { return g.labels(flavor)[key] }

func (g *Group) labels(flavor int) map[string]string {
	if f := g.known[flavor]; f != nil {
		return f.NodeLabels
	}
	return nil
}

func tolerated(t *workload.Taint, by []workload.Toleration) bool {
	for i := range by {
		if by[i].Tolerates(t) {
			return true
		}
	}
	return false
}

// unsatisfied returns the first requirement of the first term that is not satisfied; nil if
// some term is satisfied or there are no terms. A term without a requirement on a key of the
// group is satisfied.
func (g *Group) unsatisfied(terms []workload.NodeSelectorTerm, labels map[string]string) (first *workload.LabelRequirement) {
	for i := range terms {
		var failed *workload.LabelRequirement
		for j := range terms[i].MatchExpressions {
			r := &terms[i].MatchExpressions[j]
			if _, ours := slices.BinarySearch(g.keys, r.Key); ours && !r.Matches(labels) {
				failed = r
				break
			}
		}
		if failed == nil {
			return nil
		}
		if first == nil {
			first = failed
		}
	}
	return first
}

// know adds what is known about the flavors of a group.
func (g *Group) know(flavors map[string]*queue.Flavor) {
	g.known = make([]*queue.Flavor, len(g.Flavors))
	keys := make(map[string]bool)
	for i, name := range g.Flavors {
		if f := flavors[name]; f != nil {
			g.known[i] = f
			for key := range f.NodeLabels {
				keys[key] = true
			}
		}
	}
	g.keys = slices.Sorted(maps.Keys(keys))
}

// Group is a resource group.
type Group struct {
	Resources []string
	Flavors   []string
	columns   []int           // by flavor, then resource; -1: no quota in the queue
	known     []*queue.Flavor // by flavor; nil: nothing is known
	keys      []string        // of the labels of the flavors, sorted
	// onlyTopology says that all flavors of the queue have a topology.
	onlyTopology bool
}
