package workload

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cedesched/cede/fault"
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
	// less than the disruption controller: no pod without labels, and nobody by a selector
	// without requirements (filterPodsWithPDBViolation).
	LabelledOnly bool `json:"labelledOnly,omitempty"`
}

// LabelSelector selects pods by labels. All parts must match; the zero value matches all
// pods.
type LabelSelector struct {
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// MatchExpressions are requirements. The operators Gt and Lt are invalid.
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// Matches reports whether the labels match. A nil selector matches nothing.
func (s *LabelSelector) Matches(labels map[string]string) bool {
	if s == nil {
		return false
	}
	for key, value := range s.MatchLabels {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	for i := range s.MatchExpressions {
		if !s.MatchExpressions[i].Matches(labels) {
			return false
		}
	}
	return true
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

// Clone returns a copy that shares nothing with b.
func (b DisruptionBudget) Clone() DisruptionBudget {
	if b.Selector != nil {
		s := LabelSelector{MatchLabels: maps.Clone(b.Selector.MatchLabels)}
		for _, r := range b.Selector.MatchExpressions {
			r.Values = slices.Clone(r.Values)
			s.MatchExpressions = append(s.MatchExpressions, r)
		}
		b.Selector = &s
	}
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
	if b.Selector == nil {
		return faults.Err()
	}
	for i := range b.Selector.MatchExpressions {
		r, at := &b.Selector.MatchExpressions[i], fmt.Sprintf("%s.selector.matchExpressions[%d]", path, i)
		if r.Operator == Gt || r.Operator == Lt {
			faults.Add(at+".operator", "%v is for nodes: a pod is not selected by it", r.Operator)
			continue
		}
		r.validate(&faults, at)
	}
	return faults.Err()
}
