package workload

import (
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
)

// DisruptionBudget limits how many pods of an application may be evicted. The zero value is
// invalid.
type DisruptionBudget struct {
	Namespace string `json:"namespace,omitempty"`
	// Name is unique in the namespace. With LabelledOnly it may be empty.
	Name string `json:"name"`
	// Selector selects the pods of the namespace that the budget covers. Nil: none.
	Selector *LabelSelector `json:"selector,omitempty"`
	// Allowed is the number of further disruptions that the budget allows now.
	Allowed int64 `json:"allowed,omitempty"`
	// Disrupted lists the IDs of pods that the budget already counts as disrupted: evicting
	// one of them costs nothing.
	Disrupted []string `json:"disrupted,omitempty"`
	// LabelledOnly reads the budget as the preemption of kube-scheduler does, which covers
	// less than the disruption controller: no pod without labels, and no pod by a selector
	// without requirements (filterPodsWithPDBViolation).
	LabelledOnly bool `json:"labelledOnly,omitempty"`
}

// Covers reports whether the budget covers a pod: its selector matches a pod of its
// namespace.
func (b *DisruptionBudget) Covers(p *Pod) bool {
	if b.Namespace != p.Namespace {
		return false
	}
	if s := b.Selector; b.LabelledOnly && (len(p.Labels) == 0 || s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0) {
		return false
	}
	return b.Selector.Matches(p.Labels)
}

// Charges reports whether evicting a pod costs the budget a disruption: it covers the pod, and does not count it as disrupted already.
func (b *DisruptionBudget) Charges(p *Pod) bool {
	return b.Covers(p) && !slices.Contains(b.Disrupted, p.ID)
}

// Clone returns a copy that shares nothing with b.
func (b DisruptionBudget) Clone() DisruptionBudget {
	b.Selector = b.Selector.Clone()
	b.Disrupted = slices.Clone(b.Disrupted)
	return b
}

// Validate returns everything that is wrong with the budget, as an error that lists each
// fault with its path under the given one: an empty name (without LabelledOnly), a negative allowance; in the
// selector an empty key, an unknown operator, Gt or Lt, values that the operator does not
// take.
func (b *DisruptionBudget) Validate(path string) error {
	var faults fault.List
	if b.Name == "" && !b.LabelledOnly {
		faults.Add(path+".name", "is empty")
	}
	if b.Allowed < 0 {
		faults.Add(path+".allowed", "%d is negative", b.Allowed)
	}
	faults = append(faults, faultsOf(b.Selector.Validate(path+".selector"))...)
	return faults.Err()
}
