package guard

import (
	"go/parser"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSeedsAreFixed: each package that tests laws fixes their seed (package internal/proof/seed), in the
// library and in the programs, so that the tests of one commit pass each time or never.
func TestSeedsAreFixed(t *testing.T) {
	laws, fixed := map[string]bool{}, map[string]bool{} // packages that test laws; that fix the seed
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(files, path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, s := filepath.Dir(path), source{file: f}
		laws[dir] = laws[dir] || slices.Contains(s.imports(), "pgregory.net/rapid")
		fixed[dir] = fixed[dir] || slices.Contains(s.imports(), module+"/"+seed)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for dir := range laws {
		if laws[dir] {
			found++
		}
		if laws[dir] && !fixed[dir] {
			t.Errorf("%s: no test file imports %s", dir, seed)
		}
	}
	if found < 30 {
		t.Fatalf("only %d packages test laws: is this the root?", found)
	}
}
