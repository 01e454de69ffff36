package workload

import (
	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/enum"
)

// PodGroup is a pod group on nodes. The zero value is invalid. Priority and DisruptionMode
// are fixed while it has pods (KEP-5710: they are immutable).
type PodGroup struct {
	ID string `json:"id"`
	// Priority counts instead of those of its pods. Zero where its class sets none.
	Priority       int32          `json:"priority,omitempty"`
	DisruptionMode DisruptionMode `json:"disruptionMode,omitzero"`
	// Basic says that its pods are scheduled each by itself, not as a gang. Then
	// DisruptionModePodGroup is invalid: a unit of preemption is never larger than one of
	// scheduling.
	Basic bool `json:"basic,omitempty"`
}

// DisruptionMode is what is evicted together (KEP-5710, Preemption unit). The zero value
// is DisruptionModePod, the default.
type DisruptionMode uint8

const (
	// DisruptionModePod: each pod of the group by itself ("Single" in newer versions of
	// the KEP).
	DisruptionModePod DisruptionMode = iota
	// DisruptionModePodGroup: all running pods of the group, wherever they run ("All").
	DisruptionModePodGroup
)

var disruptionNames = enum.Names[DisruptionMode]{Type: "DisruptionMode", List: []string{"Pod", "PodGroup"}}

// String returns the name as the KEP has it.
func (m DisruptionMode) String() string { return disruptionNames.String(m) }

// MarshalText writes the name. It fails on an invalid value.
func (m DisruptionMode) MarshalText() ([]byte, error) { return disruptionNames.Marshal(m) }

// UnmarshalText reads a name. It fails on any other text.
func (m *DisruptionMode) UnmarshalText(text []byte) error { return disruptionNames.Unmarshal(text, m) }

// Validate returns everything that is wrong with the group, as an error that lists each
// fault with its path under the given one: an empty ID, an unknown disruption mode, mode
// PodGroup of a group that is Basic.
func (g *PodGroup) Validate(path string) error {
	var faults fault.List
	if g.ID == "" {
		faults.Add(path+".id", "is empty")
	}
	if !disruptionNames.Valid(g.DisruptionMode) {
		faults.Add(path+".disruptionMode", "%v is unknown", g.DisruptionMode)
	}
	if g.Basic && g.DisruptionMode == DisruptionModePodGroup {
		faults.Add(path+".disruptionMode", "PodGroup needs a gang: the group is basic")
	}
	return faults.Err()
}
