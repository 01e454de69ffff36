package deep

import "testing"

func TestTwice(t *testing.T) {
	if Twice([]int{1, 2}) != 6 {
		t.Error("wrong")
	}
}
