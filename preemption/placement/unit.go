package placement

import (
	"cmp"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
)

// Unit is what is evicted together: a pod, or all running pods of a group of mode
// PodGroup (KEP-5710, Preemption unit).
type Unit struct {
	// Group is the ID of the group that is a unit; empty for a pod by itself.
	Group string `json:"group,omitempty"`
	// Pods is its pods, by UID and ID.
	Pods []Pod `json:"pods"`
	// Priority is the one that counts: the group's, if the group is in the snapshot.
	Priority int32 `json:"priority"`
}

// pod is a pod inside of a snapshot. It is never changed.
type pod struct {
	node     int32 // number
	priority int32 // the one that counts
	takes    []amount
	budgets  []int32 // that cover it, in order
	single   *unit   // nil for a member of a unit of several
	facts    Pod
}

// alone is a pod that is a unit, with what a search looks at in one place: it walks
// many of them in no order that memory has.
type alone struct {
	unit    unit
	list    [1]*pod
	budgets [1]int32
	takes   [3]amount
	pod     pod
}

// amount is so much of one column.
type amount struct {
	column int32
	value  int64
}

// unit is a unit inside of a snapshot. It is never changed.
type unit struct {
	group    string
	pods     []*pod // by UID and ID
	priority int32
	grouped  bool  // a pod of it names a group
	started  int64 // the earliest; just now where it is not known
	covered  bool  // by a budget
}

const justNow = math.MaxInt64

func newUnit(group string, pods []*pod) *unit {
	u := new(unit)
	u.fill(group, pods)
	return u
}

func (u *unit) fill(group string, pods []*pod) {
	*u = unit{group: group, pods: pods, priority: pods[0].priority, started: justNow}
	for _, p := range pods {
		u.grouped = u.grouped || p.facts.Group != ""
		u.covered = u.covered || len(p.budgets) > 0
		if !p.facts.Started.IsZero() {
			u.started = min(u.started, instant.Of(p.facts.Started))
		}
	}
}

// compareUnits is the order of importance, most important first: priority; groups and
// their pods before others; more pods; earlier start; smaller UID, then ID, of the first
// pod. (KEP-5710, step "sort", with the tie-breaks as built in v1.37.)
func compareUnits(a, b *unit) int {
	switch {
	case a == b:
		return 0
	case a.priority != b.priority:
		return cmp.Compare(b.priority, a.priority)
	case a.grouped != b.grouped:
		if a.grouped {
			return -1
		}
		return 1
	case len(a.pods) != len(b.pods):
		return cmp.Compare(len(b.pods), len(a.pods))
	case a.started != b.started:
		return cmp.Compare(a.started, b.started)
	}
	return compareUIDs(a.pods[0], b.pods[0])
}

func compareUIDs(a, b *pod) int {
	return cmp.Or(cmp.Compare(a.facts.UID, b.facts.UID), cmp.Compare(a.facts.ID, b.facts.ID))
}

// public is the unit as callers see it.
func (u *unit) public() Unit {
	out := Unit{Group: u.group, Priority: u.priority}
	for _, p := range u.pods {
		out.Pods = append(out.Pods, p.facts.Clone())
	}
	return out
}

// group is a pod group inside of a snapshot, known or only named by pods. It is never
// changed.
type group struct {
	facts   Group
	known   bool
	members []*pod // running, by UID and ID
	// whole and staying are the unit of a group of mode PodGroup: with all members, and
	// with those that do not terminate. Nil where it has none.
	whole, staying *unit
}

func newGroup(facts Group, known bool, members []*pod) *group {
	g := &group{facts: facts, known: known, members: members}
	if !g.atomic() || len(members) == 0 {
		return g
	}
	g.whole = newUnit(facts.ID, members)
	g.staying = g.whole
	if slices.ContainsFunc(members, func(p *pod) bool { return p.facts.Terminating }) {
		staying := slices.DeleteFunc(slices.Clone(members), func(p *pod) bool { return p.facts.Terminating })
		g.staying = nil
		if len(staying) > 0 {
			g.staying = newUnit(facts.ID, staying)
		}
	}
	return g
}

// isBasic reports whether a group is known and not a gang.
func (c *cluster) isBasic(id string) bool {
	g := c.group(id)
	return g != nil && g.known && g.facts.Basic
}

// atomic reports whether the group is one unit.
func (g *group) atomic() bool { return g.known && g.facts.DisruptionMode == DisruptionModePodGroup }
