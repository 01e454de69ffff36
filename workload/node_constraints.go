package workload

import (
	"maps"
	"slices"
	"strconv"

	"github.com/cedesched/cede/internal/base/enum"
)

// MaxNodeConstraints bounds what a pod set says about nodes: the labels of its selector,
// the values of its affinity with the requirements that have none, and its tolerations,
// each. It also bounds the taints and the tolerations of a flavor.
const MaxNodeConstraints = 256

// NodeConstraints say on which nodes the pods of a pod set may run, as Kubernetes has it.
// The zero value is any node without taint.
type NodeConstraints struct {
	// NodeSelector is the labels that a node must have.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// NodeAffinity is the terms of the required node affinity, of which a node must
	// satisfy one. Empty: no affinity.
	NodeAffinity []NodeSelectorTerm `json:"nodeAffinity,omitempty"`
	// Tolerations is the taints in spite of which the pods may run.
	Tolerations []Toleration `json:"tolerations,omitempty"`
}

// NodeSelectorTerm is satisfied when all its requirements are.
type NodeSelectorTerm struct {
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// LabelRequirement is about one label of a node or pod. The zero value is not valid.
type LabelRequirement struct {
	Key      string        `json:"key"`
	Operator LabelOperator `json:"operator"`
	// Values is one or more for In and NotIn, none for Exists and DoesNotExist, one
	// integer for Gt and Lt.
	Values []string `json:"values,omitempty"`
}

// Matches reports whether labels satisfy the requirement.
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

// Taint keeps pods that do not tolerate it off a node. The zero value is not valid.
type Taint struct {
	Key    string      `json:"key"`
	Value  string      `json:"value,omitempty"`
	Effect TaintEffect `json:"effect"`
}

// Toleration is of the taints that match it. The zero value is of those with an empty
// value.
type Toleration struct {
	// Key is that of the taint. Empty: of any taint.
	Key      string             `json:"key,omitempty"`
	Operator TolerationOperator `json:"operator,omitzero"`
	Value    string             `json:"value,omitempty"`
	// Effect is that of the taint. Zero: of any effect.
	Effect TaintEffect `json:"effect,omitzero"`
}

// Tolerates reports whether the toleration is of the taint.
func (t *Toleration) Tolerates(taint *Taint) bool {
	return (t.Effect == 0 || t.Effect == taint.Effect) && (t.Key == "" || t.Key == taint.Key) &&
		(t.Operator == TolerationExists || t.Value == taint.Value)
}

// LabelOperator relates a label to values. The zero value is invalid.
type LabelOperator uint8

const (
	// In: the label is there, with one of the values.
	In LabelOperator = 1 + iota
	// NotIn: the label is not there, or with none of the values.
	NotIn
	// Exists: the label is there.
	Exists
	// DoesNotExist: the label is not there.
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
	// TolerationExists: any value.
	TolerationExists
)

// TaintEffect is what a taint does to pods that do not tolerate it. The zero value is
// none.
type TaintEffect uint8

const (
	// NoSchedule: they are not placed there.
	NoSchedule TaintEffect = 1 + iota
	// PreferNoSchedule: they are placed elsewhere if they can be. No decision reads it.
	PreferNoSchedule
	// NoExecute: they are not placed there, and those that run are evicted.
	NoExecute
)

var (
	selectorNames   = enum.Names[LabelOperator]{Type: "LabelOperator", First: 1, List: []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}}
	tolerationNames = enum.Names[TolerationOperator]{Type: "TolerationOperator", List: []string{"Equal", "Exists"}, EmptyIsZero: true}
	effectNames     = enum.Names[TaintEffect]{Type: "TaintEffect", List: []string{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}}
)

// String returns the name of the operator as Kubernetes has it.
func (o LabelOperator) String() string { return selectorNames.String(o) }

// MarshalText writes the name. It fails on an invalid value.
func (o LabelOperator) MarshalText() ([]byte, error) { return selectorNames.Marshal(o) }

// UnmarshalText reads a name. It fails on any other text.
func (o *LabelOperator) UnmarshalText(text []byte) error {
	return selectorNames.Unmarshal(text, o)
}

// String returns the name of the operator as Kubernetes has it.
func (o TolerationOperator) String() string { return tolerationNames.String(o) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (o TolerationOperator) MarshalText() ([]byte, error) { return tolerationNames.Marshal(o) }

// UnmarshalText reads a name; empty is TolerationEqual. It fails on any other text.
func (o *TolerationOperator) UnmarshalText(text []byte) error {
	return tolerationNames.Unmarshal(text, o)
}

// String returns the name of the effect as Kubernetes has it; the zero value's is empty.
func (e TaintEffect) String() string { return effectNames.String(e) }

// MarshalText writes the name. It fails on a value that is none of the constants and not
// zero.
func (e TaintEffect) MarshalText() ([]byte, error) { return effectNames.Marshal(e) }

// UnmarshalText reads a name; empty is the zero value. It fails on any other text.
func (e *TaintEffect) UnmarshalText(text []byte) error { return effectNames.Unmarshal(text, e) }

// Clone returns a copy that shares nothing with c; nil for nil.
func (c *NodeConstraints) Clone() *NodeConstraints {
	if c == nil {
		return nil
	}
	d := NodeConstraints{maps.Clone(c.NodeSelector), slices.Clone(c.NodeAffinity), slices.Clone(c.Tolerations)}
	for i := range d.NodeAffinity {
		t := &d.NodeAffinity[i]
		t.MatchExpressions = slices.Clone(t.MatchExpressions)
		for j := range t.MatchExpressions {
			t.MatchExpressions[j].Values = slices.Clone(t.MatchExpressions[j].Values)
		}
	}
	return &d
}
