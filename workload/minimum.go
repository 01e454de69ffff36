package workload

import (
	"encoding/json"
	"math"
	"strconv"
)

// Minimum is an optional number of replicas. The zero value is none.
type Minimum struct {
	// above is the number less math.MinInt64, zero for none: a cluster holds many, and a
	// flag beside the number would double them. AtLeast(math.MinInt64) is the number
	// after it, as invalid.
	above uint64
}

// AtLeast returns a minimum. A negative one is refused where it is used.
func AtLeast(replicas int64) Minimum {
	return Minimum{uint64(max(replicas, math.MinInt64+1)) ^ 1<<63}
}

// Get returns the number and whether there is one.
func (m Minimum) Get() (replicas int64, ok bool) {
	if m.above == 0 {
		return 0, false
	}
	return int64(m.above ^ 1<<63), true
}

// IsZero reports whether there is none.
func (m Minimum) IsZero() bool { return m.above == 0 }

// Equal reports whether two minimums are the same, as == does.
func (m Minimum) Equal(other Minimum) bool { return m == other }

// MarshalJSON writes the number, or null.
func (m Minimum) MarshalJSON() ([]byte, error) {
	count, ok := m.Get()
	if !ok {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, count, 10), nil
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
