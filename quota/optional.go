package quota

import (
	"encoding/json"
	"fmt"
	"time"
)

// Optional is a number that may be unset. The zero value is unset; a zero that was set is not.
// Compare values with == or Equal.
type Optional[T interface{ ~int64 | ~float64 }] struct {
	set   bool
	value T
}

type (
	// OptionalInt64 is an optional integer.
	OptionalInt64 = Optional[int64]
	// OptionalFloat64 is an optional number.
	OptionalFloat64 = Optional[float64]
	// OptionalDuration is an optional duration. Its JSON form is text, for instance "30m0s".
	OptionalDuration = Optional[time.Duration]
)

// Some returns a value that is set.
func Some[T interface{ ~int64 | ~float64 }](value T) Optional[T] { return Optional[T]{true, value} }

// Get returns the value; ok is false if it is unset.
func (v Optional[T]) Get() (value T, ok bool) { return v.value, v.set }

// Or returns the value, or other if it is unset.
func (v Optional[T]) Or(other T) T {
	if !v.set {
		return other
	}
	return v.value
}

// IsZero reports whether the value is unset.
func (v Optional[T]) IsZero() bool { return !v.set }

// Equal reports whether both are the same, as == does.
func (v Optional[T]) Equal(other Optional[T]) bool { return v == other }

// String returns the value, or "none" if it is unset.
func (v Optional[T]) String() string {
	if !v.set {
		return "none"
	}
	return fmt.Sprint(v.value)
}

// MarshalJSON writes a number, a duration as Go does ("30m0s"), or null if it is unset. It fails on
// a number that JSON does not have: NaN or an infinity.
func (v Optional[T]) MarshalJSON() ([]byte, error) {
	if !v.set {
		return []byte("null"), nil
	}
	if d, timed := any(v.value).(time.Duration); timed {
		return json.Marshal(d.String())
	}
	return json.Marshal(v.value)
}

// UnmarshalJSON reads a number (for a duration: text such as "30m" or "0s"), or null for an
// unset value. It fails on anything else and then leaves v unchanged.
func (v *Optional[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*v = Optional[T]{}
		return nil
	}
	read := Optional[T]{set: true}
	if d, timed := any(&read.value).(*time.Duration); timed {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		var err error
		if *d, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("%q is not a duration (as in 30m or 0s)", text)
		}
	} else if err := json.Unmarshal(data, &read.value); err != nil {
		return err
	}
	*v = read
	return nil
}
