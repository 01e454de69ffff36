package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A sweep that was broken off goes on: no cell is replayed again whose result is whole in the file, and the table is that of
// a sweep in one piece. A larger sweep takes its results, too.
func TestResume(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.jsonl")
	_, want, _ := call(t, append(slices.Clone(tiny), "-o", file)...)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	broken := strings.Join(lines[:3], "") + "replay: killed\n" + lines[4][:200]
	if err := os.WriteFile(file, []byte(broken), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what  string
		args  []string
		fresh int // cells that are replayed
	}{
		{"broken off", tiny, 5},
		{"whole", tiny, 0},
		{"with more seeds", append(slices.Clone(tiny), "-seeds", "1-3"), 4},
		{"as before", tiny, 0},
	} {
		status, got, stderr := call(t, append(slices.Clone(c.args), "-o", file, "-resume", "-times")...)
		if table, _, _ := strings.Cut(got, "LONGEST"); status != 0 || slices.Equal(c.args, tiny) && !strings.HasPrefix(table, want) {
			t.Errorf("%s: status %d, %q:\n%s\nin one piece:\n%s", c.what, status, stderr, got, want)
		}
		data, err := os.ReadFile(file)
		if n := strings.Count(string(data), `"times"`); err != nil || n != c.fresh {
			t.Errorf("%s: %d cells are replayed, want %d", c.what, n, c.fresh)
		}
		if err := os.WriteFile(file, []byte(untimed(string(data))), 0o644); err != nil {
			t.Fatal(err)
		}
		if status, table, stderr := call(t, "-results", file); status != 0 || slices.Equal(c.args, tiny) && table != want {
			t.Errorf("%s, of the file: status %d, %q:\n%s", c.what, status, stderr, table)
		}
	}
}

// untimed returns results as if nothing had been measured.
func untimed(data string) string {
	var out strings.Builder
	for line := range strings.Lines(data) {
		before, after, found := strings.Cut(line, `,"times":{`)
		if _, rest, ok := strings.Cut(after, "}"); found && ok {
			line = before + rest
		}
		out.WriteString(line)
	}
	return out.String()
}
