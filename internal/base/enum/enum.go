// Package enum maps the constants of a type to their texts.
package enum

import "fmt"

// Names holds the texts of the constants of a type, which begin at First. One text may be
// empty.
type Names[E ~uint8] struct {
	Type  string // its name in Go
	First E
	List  []string
	// EmptyIsZero: an empty text is read as the zero value.
	EmptyIsZero bool
}

// Valid reports whether the value is one of the constants.
func (n *Names[E]) Valid(v E) bool { return v >= n.First && int(v-n.First) < len(n.List) }

// String returns the text of a value; of a value that is not a constant, text like
// "Outcome(9)".
func (n *Names[E]) String(v E) string {
	if !n.Valid(v) {
		return fmt.Sprintf("%s(%d)", n.Type, uint8(v))
	}
	return n.List[v-n.First]
}

// Marshal is MarshalText. It fails on a value that is not a constant.
func (n *Names[E]) Marshal(v E) ([]byte, error) {
	if !n.Valid(v) {
		return nil, fmt.Errorf("%s is not valid", n.String(v))
	}
	return []byte(n.String(v)), nil
}

// Unmarshal is UnmarshalText. It fails on any other text and then leaves the value unchanged.
func (n *Names[E]) Unmarshal(text []byte, into *E) error {
	for i, name := range n.List {
		if name == string(text) {
			*into = n.First + E(i)
			return nil
		}
	}
	if len(text) == 0 && n.EmptyIsZero {
		*into = 0
		return nil
	}
	return fmt.Errorf("%q is not a valid %s: want one of %q", text, n.Type, n.List)
}
