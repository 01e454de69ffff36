package recorded

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// A line that never ends is refused, and each of its bytes is looked at once.
func TestEndlessLine(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	for range 65 {
		if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	err := Read("f", &zipped, func(int, *Case) error { return nil })
	if err == nil || err.Error() != "f:1: more than 64 MiB in one line" {
		t.Errorf("%v", err)
	}
}

// Empty lines are passed over and counted; the last line needs no end. What is no case is an error.
func TestLines(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"\n\r\n  \n":                        "",
		"\n\r\n  \n" + `{"id":"b"}`:         `f:4: case "b": it has no question`,
		`{"id":"b"}` + "\n":                 `f:1: case "b": it has no question`,
		`{}`:                                "f:1: no case: it has no id",
		`{"id":"b","quota":[{"want":{}}]}`:  `f:1: case "b": quota[0].state: is missing`,
		`{"id":"b","what":1}`:               `f:1: json: unknown field "what"`,
		`{"id":"b","story":"told"}` + "\n{": "f:2: unexpected EOF",
	} {
		err := Read("f", strings.NewReader(text), func(int, *Case) error { return nil })
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
