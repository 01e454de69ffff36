package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestDiffer(t *testing.T) {
	for _, c := range []struct{ file, was, now, want string }{
		{"internal/engine/exact/exact.go", "1999", "1999", ""},
		{"internal/engine/exact/exact.go", "1999", "2000", "internal/engine/exact/exact.go: 2000, was 1999\n"},
		{"internal/engine/exact/exact.go", "2000", "2001", ""}, // 1 in 2,000
		{"internal/engine/exact/exact.go", "0", "1", "internal/engine/exact/exact.go: 1, was 0\n"},
		{"internal/engine/nodes/node.go", "100", "97", ""},
		{"internal/engine/nodes/node.go", "100", "104", "internal/engine/nodes/node.go: 104, was 100\n"},
	} {
		was, err := parse(head + c.file + "   " + c.was + "\n")
		if err != nil {
			t.Fatal(err)
		}
		now, err := parse(c.file + " " + c.now)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if some := differ(&b, was, now); b.String() != c.want || some != (c.want != "") {
			t.Errorf("%s %s -> %s: %q", c.file, c.was, c.now, b.String())
		}
	}
	var b strings.Builder
	if differ(&b, map[string]int64{"a.go": 1}, map[string]int64{"b.go": 2}); b.String() != "a.go: 0, was 1\nb.go: 2, was 0\n" {
		t.Errorf("other files: %q", b.String())
	}
}

func TestRead(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "profile")
	text := "mode: count\nx/internal/engine/fair/fair.go:1.2,3.4 5 6\nx/internal/engine/fair/fair.go:5.2,6.4 1 10\nx/internal/engine/nodes/fit.go:1.2,3.4 5 7\n"
	if err := os.WriteFile(profile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	if err := read(profile, decisions[0].counted, counts); err != nil || !reflect.DeepEqual(counts, map[string]int64{"internal/engine/fair/fair.go": 16}) {
		t.Errorf("%v, %v", counts, err)
	}
}

func TestRefuses(t *testing.T) {
	for _, args := range [][]string{{"-no"}, {"-update", "more"}} {
		if code, _ := run(args, &strings.Builder{}); code != 2 {
			t.Errorf("%q: exit %d", args, code)
		}
	}
	if _, err := parse("internal/engine/a.go many\n"); err == nil {
		t.Error("a count that is no number is read")
	}
}
