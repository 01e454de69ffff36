package nodes

import (
	"cmp"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Pod is a pod in a snapshot. It is immutable.
type Pod struct {
	node     int32 // number
	priority int32 // the priority that counts
	takes    []amount
	budgets  []int32  // the budgets that cover it, in order
	single   *Unit    // nil for a member of a larger unit
	minimum  [2]int64 // minimum runtimes, its own or its group's; unsetMinimum: neither has one
	queue    string   // that counts
	surplus  bool     // of its group
	like     *alike   // whose labels and requests it has; nil: not known
	Facts    workload.Pod
}

// alone is a pod that is a unit, with the fields that a search reads in one place: it reads
// many of them in random order.
type alone struct {
	unit    Unit
	list    [1]*Pod
	budgets [1]int32
	takes   [3]amount
	pod     Pod
}

// lone is alone for many pods that are made at once: they share the slices.
type lone struct {
	unit Unit
	list [1]*Pod
	pod  Pod
}

// join makes the pod one of its group, which may be nil, or a unit by itself.
func (l *lone) join(g *group) {
	p := &l.pod
	if p.belong(g); g == nil || !g.atomic() {
		l.list[0] = p
		l.unit.fill("", l.list[:])
		p.single = &l.unit
	}
}

// belong takes over what the group of a pod decides.
func (p *Pod) belong(g *group) {
	p.priority, p.queue, p.surplus = p.Facts.Priority, p.Facts.Queue, false
	if g != nil && g.known {
		p.priority, p.queue, p.surplus = g.Facts.Priority, g.Facts.Queue, g.isSurplus(&p.Facts)
	}
	p.minimum = minimumsOf(&p.Facts, g)
}

// newPod makes a pod on the node with that number. It keeps facts, which must be a copy.
func (c *Cluster) newPod(facts workload.Pod, number int32, g *group) *Pod {
	a := &alone{pod: Pod{Facts: facts, node: number}}
	p := &a.pod
	p.takes, p.budgets = c.columns.takes(a.takes[:0], facts.Requests), c.covering(a.budgets[:0], &p.Facts)
	if p.belong(g); g == nil || !g.atomic() {
		a.list[0] = p
		a.unit.fill("", a.list[:])
		p.single = &a.unit
	}
	return p
}

// minimumsOf returns the minimum runtimes of a pod, its own or its group's.
func minimumsOf(p *workload.Pod, g *group) (minimum [2]int64) {
	own, ofGroup := [...]quota.OptionalDuration{p.MinRuntime, p.ReclaimMinRuntime}, [2]quota.OptionalDuration{}
	if g != nil && g.known {
		ofGroup = [...]quota.OptionalDuration{g.Facts.MinRuntime, g.Facts.ReclaimMinRuntime}
	}
	for kind := range minimum {
		minimum[kind] = int64(own[kind].Or(ofGroup[kind].Or(unsetMinimum)))
	}
	return minimum
}

// hasMinimum reports whether the pod has a minimum runtime, its own or its group's.
func (p *Pod) hasMinimum() bool { return p.minimum[preempting] > 0 || p.minimum[reclaiming] > 0 }

// amount is an amount of one column.
type amount struct {
	column int32
	value  int64
}

// Unit is what is evicted together: a pod, or all running pods of a group in mode PodGroup
// (KEP-5710, Preemption unit). It is immutable.
type Unit struct {
	Group    string // the group that is the unit; empty for a single pod
	Pods     []*Pod // by UID and ID
	Priority int32  // the priority that counts
	grouped  bool   // a pod of it names a group
	started  int64  // the earliest start; now if unknown
	covered  bool   // a budget covers it
	surplus  bool   // it is a pod of the surplus of its group
	// until is the last instant at which a minimum runtime of a pod or group protects the
	// unit. latest is the latest start of a pod without a minimum runtime. Unset: none.
	until, latest [2]int64
}

// The kinds of minimum runtimes: against requests of the same queue, and of others.
const (
	preempting = iota
	reclaiming
)

const unsetMinimum = -1

const justNow = math.MaxInt64

func newUnit(group string, pods []*Pod) *Unit {
	u := new(Unit)
	u.fill(group, pods)
	return u
}

func (u *Unit) fill(group string, pods []*Pod) {
	none := [2]int64{instant.Unset, instant.Unset}
	*u = Unit{Group: group, Pods: pods, Priority: pods[0].priority, started: justNow, surplus: pods[0].surplus, until: none, latest: none}
	for _, p := range pods {
		u.grouped = u.grouped || p.Facts.Group != ""
		u.covered = u.covered || len(p.budgets) > 0
		at := instant.Of(p.Facts.Started)
		if at == instant.Unset {
			continue
		}
		u.started = min(u.started, at)
		if p.Facts.Terminating || p.surplus {
			continue
		}
		for kind, minimum := range p.minimum {
			switch {
			case minimum > 0:
				u.until[kind] = max(u.until[kind], quota.Add(at, minimum))
			case minimum == unsetMinimum:
				u.latest[kind] = max(u.latest[kind], at)
			}
		}
	}
}

// budgets appends the budgets that cover a pod of the unit to list.
func (u *Unit) budgets(list []int32) []int32 {
	for _, p := range u.Pods {
		for _, slot := range p.budgets {
			if !slices.Contains(list, slot) {
				list = append(list, slot)
			}
		}
	}
	return list
}

// compareUnits is the order of importance, most important first: priority; groups and their
// pods before others; more pods; earlier start; pods that are no surplus before those that are;
// smaller UID, then ID, of the first pod. (KEP-5710, step "sort", with the tie-breaks as built in v1.37.)
func compareUnits(a, b *Unit) int {
	switch {
	case a == b:
		return 0
	case a.Priority != b.Priority:
		return cmp.Compare(b.Priority, a.Priority)
	case a.grouped != b.grouped:
		if a.grouped {
			return -1
		}
		return 1
	case len(a.Pods) != len(b.Pods):
		return cmp.Compare(len(b.Pods), len(a.Pods))
	case a.started != b.started:
		return cmp.Compare(a.started, b.started)
	case a.surplus != b.surplus:
		if b.surplus {
			return -1
		}
		return 1
	}
	return compareUIDs(a.Pods[0], b.Pods[0])
}

func compareUIDs(a, b *Pod) int {
	return cmp.Or(cmp.Compare(a.Facts.UID, b.Facts.UID), cmp.Compare(a.Facts.ID, b.Facts.ID))
}
