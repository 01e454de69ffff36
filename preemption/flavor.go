package preemption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/engine/assign"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// SetFlavor adds what is known of a flavor, or replaces it. Edits of flavors cost as much
// as there are flavors and queues, once for all that follow each other.
func SetFlavor(f queue.Flavor) Edit {
	return Edit{kind: editSetFlavor, name: f.Name, flavor: f.Clone()}
}

// RemoveFlavor forgets what is known of a flavor, which quotas and workloads may name
// still. It fails when nothing is known.
func RemoveFlavor(name string) Edit { return Edit{kind: editRemoveFlavor, name: name} }

func (e *Edit) setsFlavors() bool { return e.kind >= editSetFlavor }

// editFlavors applies a run of edits of flavors, of which the first is number first, and
// validates the result. The result is not nil.
func editFlavors(flavors []queue.Flavor, first int, edits []Edit) ([]queue.Flavor, error) {
	next := append(make([]queue.Flavor, 0, len(flavors)+len(edits)), flavors...)
	var faults fault.List
	for i, e := range edits {
		at := slices.IndexFunc(next, func(f queue.Flavor) bool { return f.Name == e.name })
		switch {
		case e.kind == editSetFlavor && at >= 0:
			next[at] = e.flavor
		case e.kind == editSetFlavor:
			next = append(next, e.flavor)
		case at >= 0:
			next = slices.Delete(next, at, at+1)
		default:
			faults.Add(fmt.Sprintf("edits[%d]", first+i), "no flavor %q", e.name)
		}
	}
	path := fmt.Sprintf("edits[%d]", first)
	if len(edits) > 1 {
		path = fmt.Sprintf("edits[%d:%d]", first, first+len(edits))
	}
	slices.SortFunc(next, compareFlavors)
	found, _ := queue.ValidateFlavors(next).(fault.List)
	for _, f := range found {
		faults = append(faults, fault.Fault{Path: path + ": " + f.Path, Problem: f.Problem})
	}
	if err := faults.Err(); err != nil {
		return flavors, err
	}
	return next, nil
}

// Mismatch is why a flavor is not eligible for a pod set: Taint or Requirement is set. Only
// requirements about the keys count that some flavor of the resource group has as a label
// (Kueue's flavor assigner as built).
type Mismatch struct {
	// Taint is the flavor's first taint, NoSchedule or NoExecute, that neither the pod set
	// nor the flavor tolerates.
	Taint *workload.Taint `json:"taint,omitempty"`
	// Requirement is what the labels of the flavor do not satisfy: of the node selector,
	// as In with one value, the first by key; else of the required node affinity, of which
	// no term is satisfied, the first that is not in the first term.
	Requirement *workload.LabelRequirement `json:"requirement,omitempty"`
	// Label is the flavor's value of the requirement's key. Empty also where it has none.
	Label string `json:"label,omitempty"`
}

// mismatch asks once more about a flavor that is not eligible: to remember would cost those
// that are. Nothing of the answer belongs to the snapshot or the request.
func mismatch(ch *assign.Choice, t assign.Tried) *Mismatch {
	if t.Passed != assign.NotEligible {
		return nil
	}
	found := ch.Group.Mismatch(t.Flavor, ch.Constraints)
	if found.Taint != nil {
		taint := *found.Taint
		return &Mismatch{Taint: &taint}
	}
	r := *found.Requirement
	r.Values = slices.Clone(r.Values)
	return &Mismatch{Requirement: &r, Label: ch.Group.Label(t.Flavor, r.Key)}
}

func compareFlavors(a, b queue.Flavor) int { return cmp.Compare(a.Name, b.Name) }

// cloneFlavors returns a copy that shares nothing with flavors, by name.
func cloneFlavors(flavors []queue.Flavor) []queue.Flavor {
	next := slices.Clone(flavors)
	slices.SortFunc(next, compareFlavors)
	for i := range next {
		next[i] = next[i].Clone()
	}
	return next
}
