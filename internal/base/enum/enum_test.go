package enum

import "testing"

type level uint8

// Every valid value reads back as itself; others have no text, and an unknown text leaves
// the value as it is.
func TestNames(t *testing.T) {
	for _, n := range []*Names[level]{
		{Type: "Level", List: []string{"Low", "High"}, EmptyIsZero: true},
		{Type: "Level", First: 1, List: []string{"Low", "High"}},
		{Type: "Level", List: []string{"", "Low"}},
	} {
		for v := range level(4) {
			text, err := n.Marshal(v)
			if n.Valid(v) != (err == nil) || n.Valid(v) != (v >= n.First && v < n.First+2) {
				t.Errorf("%+v: %d: %q, %v", n, v, text, err)
			}
			if read := level(9); err == nil && (n.Unmarshal(text, &read) != nil || read != v) {
				t.Errorf("%+v: %q is read as %d", n, text, read)
			}
		}
		if got := n.String(9); got != "Level(9)" {
			t.Errorf("%+v: String(9) is %q", n, got)
		}
		v := level(9)
		if err := n.Unmarshal([]byte("low"), &v); err == nil || v != 9 {
			t.Errorf("%+v: %v, %d", n, err, v)
		}
		if err := n.Unmarshal(nil, &v); (err == nil) != (n.First == 0) || err == nil && v != 0 {
			t.Errorf("%+v: empty: %v, %d", n, err, v)
		}
	}
}
