package bridge

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/cedesched/cede/workload"
)

// Taint keeps pods that do not tolerate it away from a node.
type Taint struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// Effect is NoSchedule, PreferNoSchedule or NoExecute.
	Effect string `json:"effect"`
}

// Toleration tolerates the taints that match it.
type Toleration struct {
	Key string `json:"key"` // empty: any
	// Operator is Equal (or empty), Exists, and Gt or Lt: the value of the taint is an integer
	// greater or less than Value.
	Operator string `json:"operator"`
	Value    string `json:"value"`
	Effect   string `json:"effect"` // empty: any
}

// Tolerates reports whether the toleration matches the taint.
func (t *Toleration) Tolerates(taint Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case "", "Equal":
		return t.Value == taint.Value
	case "Exists":
		return true
	case "Gt", "Lt":
		bound, ok := decimal(t.Value)
		is, also := decimal(taint.Value)
		return ok && also && (t.Operator == "Gt" && is > bound || t.Operator == "Lt" && is < bound)
	}
	return false
}

// decimal reads an integer as Kubernetes wants it: without plus and leading zeros.
func decimal(text string) (n int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == text
}

// Tolerates reports whether one of the tolerations matches the taint.
func Tolerates(tolerations []Toleration, taint Taint) bool {
	return slices.ContainsFunc(tolerations, func(t Toleration) bool { return t.Tolerates(taint) })
}

// Affinity is the affinity of a pod. Preferences are not read.
type Affinity struct {
	NodeAffinity    *NodeAffinity    `json:"nodeAffinity"`
	PodAffinity     *struct{}        `json:"podAffinity"` // that there is one
	PodAntiAffinity *PodAntiAffinity `json:"podAntiAffinity"`
}

// NodeAffinity says on which nodes a pod may run.
type NodeAffinity struct {
	Required *NodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution"` // nil: all
}

// NodeSelector is satisfied if one of its terms is.
type NodeSelector struct {
	Terms []NodeSelectorTerm `json:"nodeSelectorTerms"`
}

// NodeSelectorTerm is satisfied if all its requirements are; a term without requirements
// never is.
type NodeSelectorTerm struct {
	MatchExpressions []Requirement `json:"matchExpressions"`
	// MatchFields holds requirements on fields of nodes. Only metadata.name is known; In and
	// NotIn take one value.
	MatchFields []Requirement `json:"matchFields"`
}

// PodAntiAffinity says from which pods a pod stays apart.
type PodAntiAffinity struct {
	Required []PodAffinityTerm `json:"requiredDuringSchedulingIgnoredDuringExecution"`
}

// PodAffinityTerm selects pods, and the node label that says which nodes are the same place.
type PodAffinityTerm struct {
	LabelSelector     *LabelSelector `json:"labelSelector"`
	Namespaces        []string       `json:"namespaces"`
	TopologyKey       string         `json:"topologyKey"`
	NamespaceSelector *LabelSelector `json:"namespaceSelector"`
}

// SuitsNode reports whether a node with the name and labels satisfies the node selector and
// the required node affinity of the pod. It fails on an invalid term if no other term is
// satisfied.
func (s *PodSpec) SuitsNode(name string, labels map[string]string) (bool, error) {
	for key, value := range s.NodeSelector {
		if has, ok := labels[key]; !ok || has != value {
			return false, nil
		}
	}
	if s.Affinity == nil || s.Affinity.NodeAffinity == nil || s.Affinity.NodeAffinity.Required == nil {
		return true, nil
	}
	var faults []error
	for i, term := range s.Affinity.NodeAffinity.Required.Terms {
		suits, err := term.suits(name, labels)
		if err != nil {
			faults = append(faults, fmt.Errorf("nodeSelectorTerms[%d].%w", i, err))
		} else if suits {
			return true, nil
		}
	}
	return false, errors.Join(faults...)
}

func (t *NodeSelectorTerm) suits(name string, labels map[string]string) (bool, error) {
	suits := len(t.MatchExpressions)+len(t.MatchFields) > 0
	for i := range t.MatchExpressions {
		r := &t.MatchExpressions[i]
		if err := validateLabel(r.Key, r.Values...); err != nil {
			return false, fmt.Errorf("matchExpressions[%d]: %w", i, err)
		}
		suits = suits && r.Matches(labels)
	}
	all := workload.NodeConstraints{NodeAffinity: []workload.NodeSelectorTerm{{MatchExpressions: t.MatchExpressions}}}
	if err := all.Validate(""); err != nil {
		return false, err
	}
	fields := map[string]string{"metadata.name": name}
	for i := range t.MatchFields {
		r := &t.MatchFields[i]
		if r.Operator != workload.In && r.Operator != workload.NotIn || len(r.Values) != 1 {
			return false, fmt.Errorf("matchFields[%d]: want In or NotIn with one value", i)
		}
		suits = suits && (r.Operator == workload.In) == (fields[r.Key] == r.Values[0])
	}
	return suits, nil
}
