package tiny

import "testing"

func TestTiny(t *testing.T) {
	if Abs(-2) != 2 || Abs(2) != 2 || Abs(0) != 0 || Wait(3) != 0 {
		t.Error("wrong")
	}
}
