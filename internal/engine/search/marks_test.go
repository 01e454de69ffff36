package search

import (
	"math"
	"testing"
)

// When the number of the set wraps, nodes that were in an earlier set are not in the new one,
// nor are those that were in none.
func TestMarksAfterWrap(t *testing.T) {
	m := Marks{epochs: []uint32{1, 0, math.MaxUint32}, epoch: math.MaxUint32}
	m.Next(3)
	for node := range 3 {
		if m.Has(node) || !m.Add(node) || m.Add(node) || !m.Has(node) {
			t.Errorf("node %d: not added once", node)
		}
	}
	if m.Next(4); m.Has(0) || m.Has(3) {
		t.Error("a larger set is not empty")
	}
}
