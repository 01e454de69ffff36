package minruntime

import "github.com/cedesched/cede/internal/base/enum"

// The texts of constants. String returns the text, as JSON has it: the name of the constant, without the prefix of its
// type where it has one. MarshalText fails on an invalid value, UnmarshalText on any other text.

var (
	methodNames = enum.Names[Method]{Type: "Method", List: []string{"lca", "queue"}}
	startNames  = enum.Names[Start]{Type: "Start", List: []string{"Admission", "Reservation"}}
)

func (m Method) String() string                   { return methodNames.String(m) }
func (m *Method) UnmarshalText(text []byte) error { return methodNames.Unmarshal(text, m) }
func (m Method) MarshalText() ([]byte, error)     { return methodNames.Marshal(m) }

func (s Start) String() string                   { return startNames.String(s) }
func (s Start) MarshalText() ([]byte, error)     { return startNames.Marshal(s) }
func (s *Start) UnmarshalText(text []byte) error { return startNames.Unmarshal(text, s) }
