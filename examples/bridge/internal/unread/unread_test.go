package unread

import (
	"slices"
	"testing"
)

// Unknown fields are found, whatever they hold.
func TestFields(t *testing.T) {
	type rule struct{ Known string }
	type spec struct{ Rules []rule }
	for text, want := range map[string][]string{
		`{"rules":[{"known":"a"},{"known":"b","other":1}]}`: {"rules[1].other"},
		`{"rules":[{"other":1e400}],"more":-1E+999}`:        {"more", "rules[0].other"},
	} {
		if got, twice := Fields([]byte(text), spec{}); !slices.Equal(got, want) || len(twice) > 0 {
			t.Errorf("%s: %q, want %q; twice %v", text, got, want, twice)
		}
	}
}

// A field that an object has twice is found, also under another case, and where the type knows nothing.
func TestTwice(t *testing.T) {
	type rule struct{ Known string }
	type spec struct{ Rules []rule }
	for text, want := range map[string]string{
		`{"rules":[{"known":"a","Known":"b"}]}`:       "rules[0].Known: is there twice",
		`{"rules":[{"known":"a"},{"known":"b"}]}`:     "",
		`{"rules":[{"other":{"x":[{"y":1,"y":2}]}}]}`: "rules[0].other.x[0].y: is there twice",
		`{"rules":[],"RULES":[]}`:                     "RULES: is there twice",
		`{"rules":[{"known"`:                          "",
	} {
		if _, twice := Fields([]byte(text), spec{}); twice.Error() != want {
			t.Errorf("%s: %v, want %q", text, twice, want)
		}
	}
}
