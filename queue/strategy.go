package queue

import "fmt"

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

var strategyNames = [...]string{"BestEffortFIFO", "StrictFIFO"}

// String returns the name as Kueue has it.
func (s Strategy) String() string {
	if int(s) < len(strategyNames) {
		return strategyNames[s]
	}
	return fmt.Sprintf("Strategy(%d)", uint8(s))
}

// MarshalText writes the name. It fails on a value that is none of the constants.
func (s Strategy) MarshalText() ([]byte, error) {
	if int(s) >= len(strategyNames) {
		return nil, fmt.Errorf("queue: %v is not a queueing strategy", s)
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads a name; empty is BestEffortFIFO. It fails on any other text.
func (s *Strategy) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = BestEffortFIFO
		return nil
	}
	for i, name := range strategyNames {
		if name == string(text) {
			*s = Strategy(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not a queueing strategy: want one of %q", text, strategyNames)
}
