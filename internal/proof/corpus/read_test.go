package corpus

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
	err := Read("f", &zipped, func(int, Asker) error { return nil })
	if err == nil || err.Error() != "f:1: more than 64 MiB in one line" {
		t.Errorf("%v", err)
	}
}

// Empty lines are passed over and counted; the last line needs no end.
func TestLines(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"\n\r\n  \n":                "",
		"\n\r\n  \n" + `{"id":"b"}`: "f:4: ",
		`{"id":"b"}` + "\n":         "f:1: ",
	} {
		err := Read("f", strings.NewReader(text), func(int, Asker) error { return nil })
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
