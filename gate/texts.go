package gate

import "github.com/cedesched/cede/internal/base/enum"

// The texts of constants. String returns the text, as JSON has it: the name of the constant, without the prefix of its
// type where it has one. MarshalText fails on an invalid value, UnmarshalText on any other text.

var (
	positionNames = enum.Names[Position]{Type: "Position", List: []string{"Closed", "Open"}}
	orderNames    = enum.Names[ReplicaOrder]{Type: "ReplicaOrder", List: []string{"FirstSignal", "Preference", "Cheapest"}}
	rulesNames    = enum.Names[Rules]{Type: "Rules", List: []string{"Design", "Kueue019"}}
	progressNames = enum.Names[Progress]{Type: "Progress", List: []string{"NotEvaluated", "Pending", "Reserved", "Preempting"}}
)

func (p Position) String() string                   { return positionNames.String(p) }
func (p Position) MarshalText() ([]byte, error)     { return positionNames.Marshal(p) }
func (p *Position) UnmarshalText(text []byte) error { return positionNames.Unmarshal(text, p) }

func (o ReplicaOrder) String() string                   { return orderNames.String(o) }
func (o ReplicaOrder) MarshalText() ([]byte, error)     { return orderNames.Marshal(o) }
func (o *ReplicaOrder) UnmarshalText(text []byte) error { return orderNames.Unmarshal(text, o) }

func (r Rules) String() string                   { return rulesNames.String(r) }
func (r Rules) MarshalText() ([]byte, error)     { return rulesNames.Marshal(r) }
func (r *Rules) UnmarshalText(text []byte) error { return rulesNames.Unmarshal(text, r) }

func (p Progress) String() string                   { return progressNames.String(p) }
func (p Progress) MarshalText() ([]byte, error)     { return progressNames.Marshal(p) }
func (p *Progress) UnmarshalText(text []byte) error { return progressNames.Unmarshal(text, p) }
