package workload

import "github.com/cedesched/cede/internal/base/enum"

// The texts of constants. String returns the text, as JSON has it: the name of the constant, without the prefix of its
// type where it has one. MarshalText fails on an invalid value, UnmarshalText on any other text.

var (
	selectorNames   = enum.Names[LabelOperator]{Type: "LabelOperator", First: 1, List: []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}}
	tolerationNames = enum.Names[TolerationOperator]{Type: "TolerationOperator", List: []string{"Equal", "Exists"}, EmptyIsZero: true}
	effectNames     = enum.Names[TaintEffect]{Type: "TaintEffect", List: []string{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}}
	disruptionNames = enum.Names[DisruptionMode]{Type: "DisruptionMode", List: []string{"Pod", "PodGroup"}}
)

func (o LabelOperator) String() string                   { return selectorNames.String(o) }
func (o LabelOperator) MarshalText() ([]byte, error)     { return selectorNames.Marshal(o) }
func (o *LabelOperator) UnmarshalText(text []byte) error { return selectorNames.Unmarshal(text, o) }

func (o TolerationOperator) String() string               { return tolerationNames.String(o) }
func (o TolerationOperator) MarshalText() ([]byte, error) { return tolerationNames.Marshal(o) }
func (o *TolerationOperator) UnmarshalText(text []byte) error {
	return tolerationNames.Unmarshal(text, o)
}

func (e TaintEffect) String() string                   { return effectNames.String(e) }
func (e TaintEffect) MarshalText() ([]byte, error)     { return effectNames.Marshal(e) }
func (e *TaintEffect) UnmarshalText(text []byte) error { return effectNames.Unmarshal(text, e) }

func (m DisruptionMode) String() string                   { return disruptionNames.String(m) }
func (m DisruptionMode) MarshalText() ([]byte, error)     { return disruptionNames.Marshal(m) }
func (m *DisruptionMode) UnmarshalText(text []byte) error { return disruptionNames.Unmarshal(text, m) }
