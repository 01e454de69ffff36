// Package golden compares texts with golden files.
package golden

import (
	"io/fs"
	"strings"
	"testing"
)

// Lines compares a text with a golden file, line by line.
func Lines(t testing.TB, files fs.FS, name, text string) {
	t.Helper()
	data, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(string(data), "\n"), strings.Split(text, "\n")
	if len(want) != len(got) {
		t.Errorf("%s has %d lines, now there are %d", name, len(want), len(got))
	}
	const most = 20 // of the lines that differ
	differ := 0
	for i := range min(len(want), len(got)) {
		if want[i] == got[i] {
			continue
		}
		if differ++; differ <= most {
			t.Errorf("%s:%d:\n- %s\n+ %s", name, i+1, want[i], got[i])
		}
	}
	if differ > most {
		t.Errorf("%s: %d lines differ", name, differ)
	}
}
