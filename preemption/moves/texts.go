package moves

import "github.com/cedesched/cede/internal/base/enum"

var startNames = enum.Names[Start]{Type: "Start", List: []string{"AfterStop", "BeforeStop"}}

// String returns the name of the constant, as JSON has it.
func (s Start) String() string                   { return startNames.String(s) }
func (s Start) MarshalText() ([]byte, error)     { return startNames.Marshal(s) }
func (s *Start) UnmarshalText(text []byte) error { return startNames.Unmarshal(text, s) }

var causeNames = enum.Names[Cause]{Type: "Cause", First: 1, List: []string{"Protected", "NoPlace", "Budget", "Promised"}}

// String returns the name of the constant, as JSON has it.
func (c Cause) String() string                   { return causeNames.String(c) }
func (c Cause) MarshalText() ([]byte, error)     { return causeNames.Marshal(c) }
func (c *Cause) UnmarshalText(text []byte) error { return causeNames.Unmarshal(text, c) }
