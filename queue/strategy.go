package queue

import "github.com/cedesched/cede/internal/base/enum"

// Strategy is what happens to the head of a queue that is not admitted. The zero value
// is BestEffortFIFO. Both order workloads alike.
type Strategy uint8

const (
	// BestEffortFIFO lets it step aside, until something changes that may help it:
	// others overtake it.
	BestEffortFIFO Strategy = iota
	// StrictFIFO keeps it at the head: it blocks its queue, and no other one.
	StrictFIFO
)

var strategyNames = enum.Names[Strategy]{Type: "Strategy", List: []string{"BestEffortFIFO", "StrictFIFO"}, EmptyIsZero: true}

// String returns the name as Kueue has it.
func (s Strategy) String() string { return strategyNames.String(s) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (s Strategy) MarshalText() ([]byte, error) { return strategyNames.Marshal(s) }

// UnmarshalText reads a name; empty is BestEffortFIFO. It fails on any other text.
func (s *Strategy) UnmarshalText(text []byte) error { return strategyNames.Unmarshal(text, s) }
