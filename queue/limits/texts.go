package limits

import "github.com/cedesched/cede/internal/base/enum"

// The texts of constants. String returns the text, as JSON has it: the name of the constant, without the prefix of its
// type where it has one. MarshalText fails on an invalid value, UnmarshalText on any other text.

var (
	scopeNames = enum.Names[Scope]{Type: "Scope", First: 1, List: []string{"Global", "PreemptingClusterQueue", "PreemptedClusterQueue", "PreemptedWorkload"}}
)

func (s Scope) String() string                   { return scopeNames.String(s) }
func (s Scope) MarshalText() ([]byte, error)     { return scopeNames.Marshal(s) }
func (s *Scope) UnmarshalText(text []byte) error { return scopeNames.Unmarshal(text, s) }
