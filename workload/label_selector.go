package workload

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
)

// LabelSelector selects pods, workloads or queues by labels, as in Kubernetes. All parts must
// match; the zero value matches all of them.
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

// Clone returns a copy that shares nothing with s, or nil for nil.
func (s *LabelSelector) Clone() *LabelSelector {
	if s == nil {
		return nil
	}
	c := LabelSelector{maps.Clone(s.MatchLabels), slices.Clone(s.MatchExpressions)}
	for i := range c.MatchExpressions {
		c.MatchExpressions[i].Values = slices.Clone(c.MatchExpressions[i].Values)
	}
	return &c
}

// Validate returns everything that is wrong with the selector, as an error that lists each
// fault with its path under the given one: in a requirement an empty key, an unknown
// operator, Gt or Lt, values that the operator does not take. Nil is valid.
func (s *LabelSelector) Validate(path string) error {
	if s == nil {
		return nil
	}
	var faults fault.List
	for i := range s.MatchExpressions {
		r, at := &s.MatchExpressions[i], fmt.Sprintf("%s.matchExpressions[%d]", path, i)
		if r.Operator == Gt || r.Operator == Lt {
			faults.Add(at+".operator", "%v is for nodes alone", r.Operator)
			continue
		}
		r.validate(&faults, at)
	}
	return faults.Err()
}
