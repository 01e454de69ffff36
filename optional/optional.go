// Package optional has values that may be unset, for instance a limit.
package optional

import (
	"encoding/json"
	"fmt"
	"time"
)

// Value is a number that may be unset. The zero value is unset; a zero that was set is not.
// Compare values with == or Equal.
type Value[T interface{ ~int64 | ~float64 }] struct {
	set   bool
	value T
}

type (
	// Int64 is an optional integer.
	Int64 = Value[int64]
	// Float64 is an optional number.
	Float64 = Value[float64]
	// Duration is an optional duration. Its JSON form is text, for instance "30m0s".
	Duration = Value[time.Duration]
)

// Of returns a value that is set.
func Of[T interface{ ~int64 | ~float64 }](value T) Value[T] { return Value[T]{true, value} }

// Get returns the value; ok is false if it is unset.
func (v Value[T]) Get() (value T, ok bool) { return v.value, v.set }

// Or returns the value, or other if it is unset.
func (v Value[T]) Or(other T) T {
	if !v.set {
		return other
	}
	return v.value
}

// IsZero reports whether the value is unset.
func (v Value[T]) IsZero() bool { return !v.set }

// Equal reports whether both are the same, as == does.
func (v Value[T]) Equal(other Value[T]) bool { return v == other }

// String returns the value, or "none" if it is unset.
func (v Value[T]) String() string {
	if !v.set {
		return "none"
	}
	return fmt.Sprint(v.value)
}

// MarshalJSON writes a number, a duration as Go does ("30m0s"), or null if it is unset. It fails on
// a number that JSON does not have: NaN or an infinity.
func (v Value[T]) MarshalJSON() ([]byte, error) {
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
func (v *Value[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*v = Value[T]{}
		return nil
	}
	read := Value[T]{set: true}
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
