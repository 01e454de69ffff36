// Package clock is the time of a loop around decisions. Decisions take their instant as an argument
// ([preemption.Request.Now]); a loop has to read it somewhere, and to know what is to be done when:
// ask again at RetryAt, look again at WakeAt, count a grace period as over.
//
// A [Clock] is read: [System] in a scheduler, [Manual] in tests and simulations. An [Agenda] says what is
// due at which instant.
//
//	agenda = agenda.Set(d.RetryAt, w.ID, again)
//	...
//	now := clock.Now()
//	for e, rest, due := agenda.Due(now); due; e, rest, due = agenda.Due(now) {
//		agenda = rest
//		ask(e.Key)
//	}
//	wait(agenda.Next()) // for the first instant
//
// The zero value of each type is ready: System reads the machine's clock, Manual shows the zero
// time, an Agenda is empty. Nothing here fails. An Agenda is immutable, as snapshots are: a method
// returns the next one. This package alone in the library reads a clock, and no decision uses it.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time. It never goes back.
type Clock interface {
	Now() time.Time
}

// System is the clock of the machine, without the monotonic reading. The zero value is ready.
type System struct{}

// Now returns the time in UTC.
func (System) Now() time.Time { return time.Now().UTC().Round(0) }

// Manual is a clock that stands still until it is moved. The zero value shows the zero time. Any number
// of goroutines may use one. It is the one type here that a method changes: that is what it is for.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// NewManual returns a clock that shows a time.
func NewManual(now time.Time) *Manual { return &Manual{now: now} }

// Now returns the time that the clock shows.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Move moves the clock to a time; an earlier one changes nothing.
func (m *Manual) Move(to time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if to.After(m.now) {
		m.now = to
	}
}
