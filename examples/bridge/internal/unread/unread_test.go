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
		got, _ := Fields([]byte(text), spec{})
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
