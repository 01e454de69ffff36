package queue

import (
	"encoding/json"
	"fmt"
	"time"
)

// MinAdmitDuration is an optional duration: how long a workload must have held its
// quota before one of equal priority may preempt it (KEP-8522, minAdmitDuration). The
// zero value is none: time gives no right to preempt.
type MinAdmitDuration struct {
	set      bool
	duration time.Duration
}

// shortest is the least that is valid (KEP-8522, Webhook Validation, 1).
const shortest = time.Minute

// AdmittedFor returns a duration; under one minute it is refused where it is used.
func AdmittedFor(d time.Duration) MinAdmitDuration { return MinAdmitDuration{true, d} }

// Get returns the duration and whether there is one.
func (m MinAdmitDuration) Get() (d time.Duration, ok bool) { return m.duration, m.set }

// IsZero reports whether there is none.
func (m MinAdmitDuration) IsZero() bool { return !m.set }

// Equal reports whether two durations are the same, as == does.
func (m MinAdmitDuration) Equal(other MinAdmitDuration) bool { return m == other }

// MarshalJSON writes the duration as Go does ("4h0m0s"), or null.
func (m MinAdmitDuration) MarshalJSON() ([]byte, error) {
	if !m.set {
		return []byte("null"), nil
	}
	return json.Marshal(m.duration.String())
}

// UnmarshalJSON reads a duration as in "4h" or "90m", or null for none. Anything else
// is an error.
func (m *MinAdmitDuration) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*m = MinAdmitDuration{}
	if text == nil {
		return nil
	}
	d, err := time.ParseDuration(*text)
	if err != nil {
		return fmt.Errorf("%q is not a duration (as in 4h or 90m)", *text)
	}
	*m = AdmittedFor(d)
	return nil
}
