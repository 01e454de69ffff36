package placement

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Edit is a change of a snapshot, for [Snapshot.With]. The zero value changes nothing.
type Edit struct {
	namespace, name string // of what it is about, for the order of Sync
	isOfBudget      bool
	removes         bool // a running pod
	apply           func(e *state.Edit) fault.List
}

// Run adds a running pod, or replaces the one with that ID; if the pod is nominated, its nomination ends. It fails if
// the pod is malformed, or the node or a claim is unknown.
func Run(p workload.Pod) Edit { return run(p.Clone()) }

// run is Run for a copy of a pod.
func run(p workload.Pod) Edit {
	return Edit{name: p.ID, apply: func(e *state.Edit) fault.List { return e.Run(p) }}
}

// StartEviction marks a pod as terminating because it was preempted, since an unknown time. A second time changes
// nothing. It fails if no pod with that ID runs.
func StartEviction(id string) Edit { return StartEvictionAt(id, time.Time{}) }

// StartEvictionAt is [StartEviction] with the time since when the pod terminates. A pod that terminates already keeps
// its time.
func StartEvictionAt(id string, at time.Time) Edit {
	return Edit{name: id, apply: func(e *state.Edit) fault.List { return e.StartEviction(id, at) }}
}

// Remove removes a running pod. It fails if there is none with that ID.
func Remove(id string) Edit {
	return Edit{name: id, removes: true, apply: func(e *state.Edit) fault.List { return e.Remove(id) }}
}

// Nominate promises room on its node to a waiting pod, in place of an earlier nomination. It fails if the pod is
// malformed or runs, or the node or a claim is unknown.
func Nominate(p workload.Pod) Edit { return nominate(p.Clone()) }

func nominate(p workload.Pod) Edit {
	return Edit{name: p.ID, apply: func(e *state.Edit) fault.List { return e.Nominate(p) }}
}

// Withdraw withdraws the nomination of a pod. Without a nomination it changes nothing.
func Withdraw(id string) Edit {
	return Edit{name: id, apply: func(e *state.Edit) fault.List {
		e.Withdraw(id)
		return nil
	}}
}

// SetGroup adds a group or replaces the one with that ID. It costs as much as edits of its pods. It fails if the
// group is malformed, if its parent is unknown or below it, if more than four groups would be nested,
// or if its priority, disruption mode or parent would change while pods of it or of a group below it run or are
// nominated (KEP-5710: these are immutable).
func SetGroup(g workload.PodGroup) Edit {
	return Edit{name: g.ID, apply: func(e *state.Edit) fault.List { return e.SetGroup(g) }}
}

// RemoveGroup removes a group; its pods then run as single pods. It fails if there is none with that ID, or if it is the
// parent of another one.
func RemoveGroup(id string) Edit {
	return Edit{name: id, apply: func(e *state.Edit) fault.List { return e.RemoveGroup(id) }}
}

// SetBudget adds a budget or replaces the one with that namespace and name. If it covers other pods than before,
// these are found by a look at every pod, once for all budget edits in a row, and each of them costs as much as an
// edit of the pod. It fails if the budget is malformed.
func SetBudget(b workload.DisruptionBudget) Edit {
	b = b.Clone()
	return Edit{namespace: b.Namespace, name: b.Name, isOfBudget: true, apply: func(e *state.Edit) fault.List { return e.SetBudget(b) }}
}

// RemoveBudget removes a budget, at the cost of [SetBudget]. It fails if there is no such budget.
func RemoveBudget(namespace, name string) Edit {
	return Edit{namespace: namespace, name: name, isOfBudget: true, apply: func(e *state.Edit) fault.List { return e.RemoveBudget(namespace, name) }}
}

// SetNode adds a node or replaces the one with that name. Adding a node costs O(nodes), in practice some
// microseconds. It fails if the node is malformed.
func SetNode(n workload.Node) Edit {
	n = n.Clone()
	return Edit{name: n.Name, apply: func(e *state.Edit) fault.List { return e.SetNode(n) }}
}

// RemoveNode removes a node, at the cost of adding one. It fails if there is none with that name, or while pods run
// there or are nominated to it.
func RemoveNode(name string) Edit {
	return Edit{name: name, apply: func(e *state.Edit) fault.List { return e.RemoveNode(name) }}
}

// SetClaim adds a claim or replaces the one with that ID. It fails if the claim is malformed.
func SetClaim(c workload.Claim) Edit {
	c = c.Clone()
	return Edit{name: c.ID, apply: func(e *state.Edit) fault.List { return e.SetClaim(c) }}
}

// RemoveClaim removes a claim. It fails if there is none with that ID, or while pods that run or are nominated hold it.
func RemoveClaim(id string) Edit {
	return Edit{name: id, apply: func(e *state.Edit) fault.List { return e.RemoveClaim(id) }}
}

// With returns a snapshot with the edits applied in order. s does not change; the new snapshot shares what the edits
// do not touch. An edit of a pod costs O(log n) in the number of pods, plus the pods of its node and group, unless
// the edit says more. On failure With returns s and preemption.Faults with every edit that cannot be made, each judged
// as if the failed ones before it were not there. Paths begin with "edits[i]".
func (s *Snapshot) With(edits ...Edit) (*Snapshot, error) {
	c := *s.inside()
	var faults fault.List
	for i := range edits {
		if edits[i].apply == nil {
			continue
		}
		next := c
		if !edits[i].removes {
			next.SettleGone()
		}
		if !edits[i].isOfBudget {
			next.SettleBudgets()
		}
		edit := next.Edit(fmt.Sprintf("edits[%d]", i))
		if wrong := edits[i].apply(&edit); wrong != nil {
			faults = append(faults, wrong...)
		} else {
			c = next
		}
	}
	if err := faults.Err(); err != nil {
		return s, err
	}
	c.SettleGone()
	c.SettleBudgets()
	next := &Snapshot{cluster: &c}
	if s != nil {
		next.order = s.order
	}
	return next, nil
}
