package workload

import (
	"maps"
	"slices"
	"strconv"
)

// MaxNodeConstraints limits each list of a pod set's node constraints: the labels of the
// selector, the values of the affinity (a requirement without values counts as one), and the
// tolerations. It also limits the taints and the tolerations of a flavor.
const MaxNodeConstraints = 256

// NodeConstraints say on which nodes the pods of a pod set may run, as in Kubernetes. The
// zero value is any node without taints.
type NodeConstraints struct {
	// NodeSelector holds the labels that a node must have.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// NodeAffinity holds the terms of the required node affinity. A node must satisfy one of
	// them. Empty: no affinity.
	NodeAffinity []NodeSelectorTerm `json:"nodeAffinity,omitempty"`
	// Tolerations are the taints that the pods tolerate.
	Tolerations []Toleration `json:"tolerations,omitempty"`
	// Topology asks for places by the topology of the nodes. Zero: it is not asked for.
	Topology TopologyRequest `json:"topology,omitzero"`
}

// NodeSelectorTerm is satisfied if all its requirements are.
type NodeSelectorTerm struct {
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// LabelRequirement is a requirement on one label of a node or pod. The zero value is not
// valid.
type LabelRequirement struct {
	Key      string        `json:"key"`
	Operator LabelOperator `json:"operator"`
	// Values has one or more values for In and NotIn, none for Exists and DoesNotExist, one
	// integer for Gt and Lt.
	Values []string `json:"values,omitempty"`
}

// Matches reports whether the labels satisfy the requirement.
func (r *LabelRequirement) Matches(labels map[string]string) bool {
	value, has := labels[r.Key]
	switch r.Operator {
	case In:
		return has && slices.Contains(r.Values, value)
	case NotIn:
		return !has || !slices.Contains(r.Values, value)
	case Exists:
		return has
	case DoesNotExist:
		return !has
	case Gt, Lt:
		if !has || len(r.Values) != 1 {
			return false
		}
		is, err := strconv.ParseInt(value, 10, 64)
		bound, err2 := strconv.ParseInt(r.Values[0], 10, 64)
		return err == nil && err2 == nil && (r.Operator == Gt && is > bound || r.Operator == Lt && is < bound)
	}
	return false
}

// Taint keeps pods that do not tolerate it away from a node. The zero value is not valid.
type Taint struct {
	Key    string      `json:"key"`
	Value  string      `json:"value,omitempty"`
	Effect TaintEffect `json:"effect"`
}

// Toleration tolerates the taints that match it. The zero value tolerates taints with an
// empty value.
type Toleration struct {
	// Key is the key of the taint. Empty: any key.
	Key      string             `json:"key,omitempty"`
	Operator TolerationOperator `json:"operator,omitzero"`
	Value    string             `json:"value,omitempty"`
	// Effect is the effect of the taint. Zero: any effect.
	Effect TaintEffect `json:"effect,omitzero"`
}

// Tolerates reports whether the toleration matches the taint.
func (t *Toleration) Tolerates(taint *Taint) bool {
	return (t.Effect == 0 || t.Effect == taint.Effect) && (t.Key == "" || t.Key == taint.Key) &&
		(t.Operator == TolerationExists || t.Value == taint.Value)
}

// LabelOperator relates a label to values. The zero value is invalid.
type LabelOperator uint8

const (
	// In: the label is present and has one of the values.
	In LabelOperator = 1 + iota
	// NotIn: the label is absent or has none of the values.
	NotIn
	// Exists: the label is present.
	Exists
	// DoesNotExist: the label is absent.
	DoesNotExist
	// Gt: the label is an integer greater than the value.
	Gt
	// Lt: the label is an integer less than the value.
	Lt
)

// TolerationOperator relates the value of a taint to that of a toleration.
type TolerationOperator uint8

const (
	// TolerationEqual: the values are equal.
	TolerationEqual TolerationOperator = iota
	// TolerationExists: the taint may have any value.
	TolerationExists
)

// TaintEffect says what a taint does to pods that do not tolerate it. The zero value is none.
type TaintEffect uint8

const (
	// NoSchedule: the pods are not placed on the node.
	NoSchedule TaintEffect = 1 + iota
	// PreferNoSchedule: the pods are placed elsewhere if possible. No decision reads it.
	PreferNoSchedule
	// NoExecute: the pods are not placed on the node, and those that run there are evicted.
	NoExecute
)

// Clone returns a copy that shares nothing with c, or nil for nil.
func (c *NodeConstraints) Clone() *NodeConstraints {
	if c == nil {
		return nil
	}
	d := NodeConstraints{maps.Clone(c.NodeSelector), slices.Clone(c.NodeAffinity), slices.Clone(c.Tolerations), c.Topology}
	for i := range d.NodeAffinity {
		t := &d.NodeAffinity[i]
		t.MatchExpressions = slices.Clone(t.MatchExpressions)
		for j := range t.MatchExpressions {
			t.MatchExpressions[j].Values = slices.Clone(t.MatchExpressions[j].Values)
		}
	}
	return &d
}
