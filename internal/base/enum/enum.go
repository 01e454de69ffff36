// Package enum maps the constants of a type to their texts.
package enum

import (
	"fmt"
	"slices"
	"strings"
)

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

// None is the text of a zero value that is not a constant. It is never read or written.
const None = "none"

// String returns the text of a value; [None] for a zero value that is not a constant, and text like
// "Outcome(9)" for any other.
func (n *Names[E]) String(v E) string {
	switch {
	case n.Valid(v):
		return n.List[v-n.First]
	case v == 0:
		return None
	}
	return fmt.Sprintf("%s(%d)", n.Type, uint8(v))
}

// Marshal is MarshalText. It fails on a value that is not a constant.
func (n *Names[E]) Marshal(v E) ([]byte, error) {
	if !n.Valid(v) {
		return nil, fmt.Errorf("%s(%d) is not valid", n.Type, uint8(v))
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
	return fmt.Errorf("%q is unknown: want %s", text, n.Wanted())
}

// Wanted lists the texts, as in "Never, LowerPriority or Any".
func (n *Names[E]) Wanted() string {
	list := slices.DeleteFunc(slices.Clone(n.List), func(name string) bool { return name == "" })
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}
