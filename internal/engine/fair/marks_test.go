package fair

import (
	"math"
	"testing"
)

// When the number of the set wraps, nodes that were in an earlier set are not in the new one,
// nor are those that were in none.
func TestMarksAfterWrap(t *testing.T) {
	m := marks{epochs: []uint32{1, 0, math.MaxUint32}, epoch: math.MaxUint32}
	m.next(3)
	for node := range 3 {
		if m.has(node) || !m.add(node) || m.add(node) || !m.has(node) {
			t.Errorf("node %d: not added once", node)
		}
	}
	if m.next(4); m.has(0) || m.has(3) {
		t.Error("a larger set is not empty")
	}
}
