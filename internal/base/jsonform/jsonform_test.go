package jsonform

import (
	"strings"
	"testing"
)

// Whatever is wrong, the error names where; what is right reads.
func TestRead(t *testing.T) {
	var into struct{ A int }
	if err := Read([]byte(` {"A": 3} `), &into); err != nil || into.A != 3 {
		t.Errorf("%+v, %v", into, err)
	}
	for text, want := range map[string]string{
		"":             "JSON ends early, at offset 0",
		`{"A":`:        "JSON ends early, at offset 5",
		`{"A": 1} {}`:  "text after the JSON value",
		`{"B": 1}`:     `unknown field "B"`,
		`{"A": "one"}`: "offset",
	} {
		if err := Read([]byte(text), &into); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
