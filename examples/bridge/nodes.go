package bridge

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Taint keeps pods that do not tolerate it off a node.
type Taint struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// Effect is NoSchedule, PreferNoSchedule or NoExecute.
	Effect string `json:"effect"`
}

// Toleration is of the taints that match it.
type Toleration struct {
	Key string `json:"key"` // empty: any
	// Operator is Equal (or empty), Exists, and Gt or Lt: the value of the taint is an integer
	// greater or less than Value.
	Operator string `json:"operator"`
	Value    string `json:"value"`
	Effect   string `json:"effect"` // empty: any
}

// Tolerates reports whether the toleration is of the taint.
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

// Tolerates reports whether one of the tolerations is of the taint.
func Tolerates(tolerations []Toleration, taint Taint) bool {
	return slices.ContainsFunc(tolerations, func(t Toleration) bool { return t.Tolerates(taint) })
}

// Affinity is that of a pod. Of what it prefers nothing is read.
type Affinity struct {
	NodeAffinity    *NodeAffinity    `json:"nodeAffinity"`
	PodAffinity     *struct{}        `json:"podAffinity"` // that there is one
	PodAntiAffinity *PodAntiAffinity `json:"podAntiAffinity"`
}

// NodeAffinity says which nodes a pod may go to.
type NodeAffinity struct {
	Required *NodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution"` // nil: all
}

// NodeSelector is satisfied when one of its terms is.
type NodeSelector struct {
	Terms []NodeSelectorTerm `json:"nodeSelectorTerms"`
}

// NodeSelectorTerm is satisfied when all its requirements are; one without any never is.
type NodeSelectorTerm struct {
	MatchExpressions []Requirement `json:"matchExpressions"`
	// MatchFields is about the fields of nodes, of which there is metadata.name; In and NotIn
	// with one value.
	MatchFields []Requirement `json:"matchFields"`
}

// PodAntiAffinity says which pods a pod keeps away from.
type PodAntiAffinity struct {
	Required []PodAffinityTerm `json:"requiredDuringSchedulingIgnoredDuringExecution"`
}

// PodAffinityTerm is about pods in places that a label of nodes tells apart.
type PodAffinityTerm struct {
	LabelSelector     *LabelSelector `json:"labelSelector"`
	Namespaces        []string       `json:"namespaces"`
	TopologyKey       string         `json:"topologyKey"`
	NamespaceSelector *LabelSelector `json:"namespaceSelector"`
}

// SuitsNode reports whether a node of the name and labels satisfies the node selector and the
// required node affinity of the pod. It fails on a term that is not valid, where no other is
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
		if err := r.validate(); err != nil {
			return false, fmt.Errorf("matchExpressions[%d]: %w", i, err)
		}
		suits = suits && r.matches(labels)
	}
	fields := map[string]string{"metadata.name": name}
	for i := range t.MatchFields {
		r := &t.MatchFields[i]
		if r.Operator != "In" && r.Operator != "NotIn" || len(r.Values) != 1 {
			return false, fmt.Errorf("matchFields[%d]: want In or NotIn with one value", i)
		}
		suits = suits && (r.Operator == "In") == (fields[r.Key] == r.Values[0])
	}
	return suits, nil
}
