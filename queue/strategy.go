package queue

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
