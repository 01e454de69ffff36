package settle

import "github.com/cedesched/cede/internal/base/enum"

var goalNames = enum.Names[Goal]{Type: "Goal", List: []string{"Within", "AtMost"}}

// String returns the name of the constant, as JSON has it.
func (g Goal) String() string                   { return goalNames.String(g) }
func (g Goal) MarshalText() ([]byte, error)     { return goalNames.Marshal(g) }
func (g *Goal) UnmarshalText(text []byte) error { return goalNames.Unmarshal(text, g) }
