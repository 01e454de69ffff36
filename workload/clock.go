package workload

import "time"

// Clock tells the time, for callers that move through it. No decision reads one: the
// time of a decision is an argument.
type Clock interface {
	Now() time.Time
}

// System is the clock of the machine. The zero value is ready.
type System struct{}

// Now returns the time of the machine.
func (System) Now() time.Time { return time.Now() }

// Manual is a clock that stands until it is moved: for tests and simulations. It has one
// owner: it is not safe for several goroutines. The zero value stands at the zero time.
type Manual struct{ now time.Time }

// NewManual returns a clock that stands at the time.
func NewManual(at time.Time) *Manual { return &Manual{at} }

// Now returns the time at which it stands.
func (m *Manual) Now() time.Time { return m.now }

// Advance moves it forward to the time. It never goes back: an earlier time changes
// nothing.
func (m *Manual) Advance(to time.Time) {
	if to.After(m.now) {
		m.now = to
	}
}
