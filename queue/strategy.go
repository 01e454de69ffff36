package queue

import "github.com/cedesched/cede/internal/base/enum"

// Strategy says what happens to a head that is not admitted. The zero value is
// BestEffortFIFO. Both strategies order workloads in the same way.
type Strategy uint8

const (
	// BestEffortFIFO may make the head inadmissible until an event that may help it. Others
	// then overtake it.
	BestEffortFIFO Strategy = iota
	// StrictFIFO keeps the head at the head. It blocks its own queue and no other.
	StrictFIFO
)

var strategyNames = enum.Names[Strategy]{Type: "Strategy", List: []string{"BestEffortFIFO", "StrictFIFO"}, EmptyIsZero: true}

// String returns the name as in Kueue.
func (s Strategy) String() string { return strategyNames.String(s) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (s Strategy) MarshalText() ([]byte, error) { return strategyNames.Marshal(s) }

// UnmarshalText reads a name; empty is BestEffortFIFO. It fails on any other text.
func (s *Strategy) UnmarshalText(text []byte) error { return strategyNames.Unmarshal(text, s) }
