package nodes

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// KEP-5710, Preemption unit; package placement, step 3: importance.

// unit is "what is evicted together: one pod, or all running pods, on all nodes, of a group in mode PodGroup".
type unit struct {
	group      string // empty: a single pod
	pods       []*pod // by UID and ID
	kind       kind
	surplus    bool
	violations int // pods over a budget, as charged last
}

type kind int

const (
	ofPod kind = iota
	ofGroup
	ofGroups
)

// units lists the units of running pods, the most important first. In [placement.ModeInPlace] "terminating pods
// count as running and may become victims again".
func (w *World) units() []*unit {
	return w.unitsOf(slices.DeleteFunc(slices.Clone(w.running), func(p *pod) bool {
		return p.Terminating && w.config.Mode == placement.ModeDesign // "Terminating victims are waited for and never preempted twice."
	}))
}

func (w *World) unitsOf(pods []*pod) (list []*unit) {
	for _, p := range pods {
		id := w.wholeGroup(p)
		i := slices.IndexFunc(list, func(u *unit) bool { return id != "" && u.group == id })
		if i < 0 {
			i = len(list)
			list = append(list, &unit{group: id, surplus: id == "" && isSurplus(w, p)})
		}
		list[i].kind = max(list[i].kind, kindOf(p, id))
		list[i].pods = append(list[i].pods, p)
	}
	for _, u := range list {
		slices.SortFunc(u.pods, compareFirst)
	}
	slices.SortFunc(list, w.compareImportance)
	return list
}

// wholeGroup: "The unit is the highest group in mode PodGroup around a pod."
func (w *World) wholeGroup(p *pod) (id string) {
	for _, g := range around(w, p.Group) {
		if g.DisruptionMode == workload.DisruptionModePodGroup {
			id = g.ID
		}
	}
	return id
}

// kindOf: "Groups of groups before groups and their pods, these before other pods." A pod is of a group if it names one, as
// built in v1.37. A unit is a group of groups if some of its pods are of groups below.
func kindOf(p *pod, whole string) kind {
	switch {
	case whole != "" && p.Group != whole:
		return ofGroups
	case p.Group != "":
		return ofGroup
	}
	return ofPod
}

// isSurplus: "MinCount is how many of its running pods the group needs: the first by ID. The others are its
// surplus. Pods that terminate do not count. Zero: there is no surplus." A group "of DisruptionModePodGroup, or
// below one, has none".
func isSurplus(w *World, p *pod) bool {
	g := group(w, p.Group)
	if g == nil || g.MinCount == 0 || p.Terminating || w.wholeGroup(p) != "" {
		return false
	}
	before := 0
	for _, q := range w.running {
		if q.Group == p.Group && !q.Terminating && q.ID < p.ID {
			before++
		}
	}
	return before >= g.MinCount
}

// public is the unit as guards and orders of importance see it.
func (u *unit) public() placement.Unit {
	list := placement.Unit{Group: u.group, Priority: u.priority()}
	for _, p := range u.pods {
		list.Pods = append(list.Pods, p.Pod)
	}
	return list
}

// ids lists the IDs of its pods, sorted.
func (u *unit) ids() (list []string) {
	for _, p := range u.pods {
		list = append(list, p.ID)
	}
	slices.Sort(list)
	return list
}

func (u *unit) priority() int32 { return u.pods[0].priority }

// start is the earliest start. "No start counts as the latest start."
func (u *unit) start() (first time.Time) {
	for _, p := range u.pods {
		if compareStart(p.Started, first) < 0 {
			first = p.Started
		}
	}
	return first
}

func compareStart(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return number(a.IsZero()) - number(b.IsZero())
	}
	return a.Compare(b)
}

func compareFirst(a, b *pod) int { return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID)) }

// compareImportance: Importance "compares units in place of the built-in order, which then breaks ties."
func (w *World) compareImportance(a, b *unit) int {
	if w.config.Importance != nil {
		if order := w.config.Importance(a.public(), b.public()); order != 0 {
			return order
		}
	}
	return compareBuiltIn(a, b)
}

// compareBuiltIn: "Higher priority; groups of groups before groups and their pods, these before other pods;
// more pods; earlier start; pods of the minimum of their group before its surplus; smaller UID, then ID, of the
// first pod."
func compareBuiltIn(a, b *unit) int {
	return cmp.Or(
		cmp.Compare(b.priority(), a.priority()),
		cmp.Compare(b.kind, a.kind),
		cmp.Compare(len(b.pods), len(a.pods)),
		compareStart(a.start(), b.start()),
		number(a.surplus)-number(b.surplus),
		compareFirst(a.pods[0], b.pods[0]),
	)
}

// in reports whether the unit has a pod in a domain.
func (u *unit) in(d domain) bool {
	return slices.ContainsFunc(u.pods, func(p *pod) bool { return d.has(p.Node) })
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
