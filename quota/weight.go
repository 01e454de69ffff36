package quota

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Weight is how much a node counts in fair sharing: its share is divided by it. The
// zero value is unset, which counts as 1. A weight of 0 is valid: such a node is the
// first to yield as soon as it borrows.
type Weight struct {
	set   bool
	value float64
}

// WeightOf returns a set weight.
func WeightOf(value float64) Weight { return Weight{true, value} }

// Get returns the weight; set is false, and the weight 1, where none is set.
func (w Weight) Get() (value float64, set bool) {
	if !w.set {
		return 1, false
	}
	return w.value, true
}

// Valid reports whether the weight is finite and not negative.
func (w Weight) Valid() bool { return w.value >= 0 && !math.IsInf(w.value, 1) }

// Equal reports whether both are the same.
func (w Weight) Equal(other Weight) bool { return w == other }

// IsZero reports whether the weight is unset.
func (w Weight) IsZero() bool { return !w.set }

// String returns the number, or "unset".
func (w Weight) String() string {
	if !w.set {
		return "unset"
	}
	return strconv.FormatFloat(w.value, 'g', -1, 64)
}

// MarshalJSON writes the number; null where none is set.
func (w Weight) MarshalJSON() ([]byte, error) {
	if !w.set {
		return []byte("null"), nil
	}
	return json.Marshal(w.value)
}

// UnmarshalJSON reads a number or null.
func (w *Weight) UnmarshalJSON(data []byte) error {
	*w = Weight{}
	if string(data) == "null" {
		return nil
	}
	if err := json.Unmarshal(data, &w.value); err != nil {
		*w = Weight{}
		return fmt.Errorf("a weight is a number: %w", err)
	}
	w.set = true
	return nil
}
