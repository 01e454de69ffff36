package workload

import (
	"encoding/json"
	"strconv"
)

// Minimum is an optional number of replicas. The zero value is none.
type Minimum struct {
	set   bool
	count int64
}

// AtLeast returns a minimum. A negative one is refused where it is used.
func AtLeast(replicas int64) Minimum { return Minimum{true, replicas} }

// Get returns the number and whether there is one.
func (m Minimum) Get() (replicas int64, ok bool) { return m.count, m.set }

// IsZero reports whether there is none.
func (m Minimum) IsZero() bool { return !m.set }

// Equal reports whether two minimums are the same, as == does.
func (m Minimum) Equal(other Minimum) bool { return m == other }

// MarshalJSON writes the number, or null.
func (m Minimum) MarshalJSON() ([]byte, error) {
	if !m.set {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, m.count, 10), nil
}

// UnmarshalJSON reads a number, or null for none. Anything else is an error.
func (m *Minimum) UnmarshalJSON(data []byte) error {
	var count *int64
	if err := json.Unmarshal(data, &count); err != nil {
		return err
	}
	*m = Minimum{}
	if count != nil {
		*m = AtLeast(*count)
	}
	return nil
}
