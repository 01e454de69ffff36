package workload

import "time"

// Clock tells the time to callers that step through it. No decision reads a clock: the time
// of a decision is an argument.
type Clock interface {
	Now() time.Time
}

// System is the clock of the machine. The zero value is ready to use.
type System struct{}

// Now returns the time of the machine.
func (System) Now() time.Time { return time.Now() }

// Manual is a clock that stands still until Advance moves it, for tests and simulations. It
// is not safe for concurrent use. The zero value stands at the zero time.
type Manual struct{ now time.Time }

// NewManual returns a clock that stands at the given time.
func NewManual(at time.Time) *Manual { return &Manual{at} }

// Now returns the time at which the clock stands.
func (m *Manual) Now() time.Time { return m.now }

// Advance moves the clock forward to the time. An earlier time changes nothing.
func (m *Manual) Advance(to time.Time) {
	if to.After(m.now) {
		m.now = to
	}
}
