package guard

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/exp/apidiff"
)

// released has the exported API of the last release, one file of stubs a package.
// Before the first release there is none, and nothing to compare with.
const released = "testdata/released"

// TestIncompatibleChangesAreListed compares the exported API with the released one. Each
// incompatible change needs a line under "Changed" in the section "Unreleased" of the
// changelog that names the identifier in backquotes. A release rewrites what it is compared
// with:
//
//	go test ./internal/proof/guard -run Incompatible -update
func TestIncompatibleChangesAreListed(t *testing.T) {
	now := exportedPackages(t)
	if *update {
		writeReleased(t, now)
	}
	if _, err := os.Stat(released); os.IsNotExist(err) {
		t.Skip("no version is released: there is no API to compare with")
	}
	before := readReleased(t)
	text := must(os.ReadFile(filepath.Join(root, "CHANGELOG.md")))(t)
	for name, old := range before {
		p := now[name]
		if p == nil {
			p = types.NewPackage(old.Path(), old.Name()) // all of it is gone
		}
		for _, message := range unlisted(old, p, string(text)) {
			t.Errorf("%s: %s: CHANGELOG.md does not name it under Changed", name, message)
		}
	}
}

// unlisted returns the incompatible changes that the changelog does not name.
func unlisted(old, now *types.Package, changelog string) (messages []string) {
	listed := changedSection(changelog)
	for _, c := range apidiff.Changes(old, now).Changes {
		if c.Compatible {
			continue
		}
		// A message is "Type.Member: what changed" or "Name: what changed"; a method is
		// "(*Type).Name" or "Type.Name".
		name, _, _ := strings.Cut(c.Message, ":")
		name = name[strings.LastIndexAny(name, ".)")+1:]
		if !regexp.MustCompile("`[^`]*\\b" + regexp.QuoteMeta(name) + "\\b[^`]*`").MatchString(listed) {
			messages = append(messages, c.Message)
		}
	}
	slices.Sort(messages)
	return messages
}

// changedSection returns what stands under "Changed" in the section "Unreleased".
func changedSection(changelog string) string {
	_, rest, _ := strings.Cut(changelog, "\n## Unreleased\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	_, rest, _ = strings.Cut(rest, "\n### Changed\n")
	rest, _, _ = strings.Cut(rest, "\n### ")
	return rest
}

// compiledNow imports what Go has compiled of the module and of what it needs.
func compiledNow(t *testing.T) types.Importer {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...")
	list.Dir = root
	out := must(list.Output())(t)
	files := map[string]string{} // by import path
	for line := range strings.Lines(string(out)) {
		of, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[of] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(of string) (io.ReadCloser, error) { return os.Open(files[of]) })
}

// exportedPackages returns the packages that users import, by their path in the module.
func exportedPackages(t *testing.T) map[string]*types.Package {
	t.Helper()
	list, compiled := map[string]*types.Package{}, compiledNow(t)
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.dir, "internal/") || list[s.dir] != nil {
			continue
		}
		p := must(compiled.Import(path.Join(module, s.dir)))(t)
		list[s.dir] = p
	}
	if len(list) < 8 {
		t.Fatalf("only %d packages", len(list))
	}
	return list
}

func writeReleased(t *testing.T, list map[string]*types.Package) {
	t.Helper()
	if err := os.RemoveAll(released); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(released, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, p := range list {
		if err := os.WriteFile(filepath.Join(released, strings.ReplaceAll(name, "/", "-")+".api"), []byte(stub(p)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func readReleased(t *testing.T) map[string]*types.Package {
	t.Helper()
	files, err := filepath.Glob(released + "/*.api")
	if err != nil || len(files) < 8 {
		t.Fatalf("only %d packages were released: %v", len(files), err)
	}
	from := stubs{map[string]string{}, map[string]*types.Package{}, compiledNow(t)}
	list := map[string]*types.Package{}
	for _, f := range files {
		data := must(os.ReadFile(f))(t)
		from.source[path.Join(module, strings.ReplaceAll(strings.TrimSuffix(filepath.Base(f), ".api"), "-", "/"))] = string(data)
	}
	for of := range from.source {
		p := must(from.Import(of))(t)
		list[strings.TrimPrefix(of, module+"/")] = p
	}
	return list
}

// A stub declares the same as its package: no change is found between them, and the stub of a stub is the same.
func TestStubsDeclareTheSame(t *testing.T) {
	now, from := exportedPackages(t), stubs{map[string]string{}, map[string]*types.Package{}, compiledNow(t)}
	for name, p := range now {
		from.source[path.Join(module, name)] = stub(p)
	}
	for name, p := range now {
		of := must(from.Import(path.Join(module, name)))(t)
		for _, c := range apidiff.Changes(of, p).Changes {
			t.Errorf("%s: %s", name, c.Message)
		}
		if again := stub(of); again != from.source[path.Join(module, name)] {
			t.Errorf("%s: the stub of its stub is another one:\n%s", name, again)
		}
	}
}

// An incompatible change that the changelog does not name is told; one that it names under
// Changed, and a compatible one, are not.
func TestUnlisted(t *testing.T) {
	old := checked(t, `package p; type T struct{ A int }; func (T) M() {}; func F(int) {}; func G() {}`)
	now := checked(t, `package p; type T struct{ B int }; func (T) N() {}; func F(string) {}; func G() {}; func H() {}`)
	for _, c := range []struct {
		changelog string
		want      []string
	}{
		{"", []string{"F: changed from func(int) to func(string)", "T.A: removed", "T.M: removed"}},
		{"# Changelog\n\n## Unreleased\n\n### Added\n- `F`, `T.A`, `T.M`.\n", []string{"F: changed from func(int) to func(string)", "T.A: removed", "T.M: removed"}},
		{"# Changelog\n\n## Unreleased\n\n### Changed\n- `p.F` takes a string; `T.A` is `B`.\n\n### Fixed\n- `M`\n", []string{"T.M: removed"}},
		{"# Changelog\n\n## Unreleased\n\n### Changed\n- `F`, `T.A`, `M`.\n", nil},
		{"# Changelog\n\n## Unreleased\n\n## 1.0\n\n### Changed\n- `F`, `T.A`, `M`.\n", []string{"F: changed from func(int) to func(string)", "T.A: removed", "T.M: removed"}},
	} {
		if got := unlisted(old, now, c.changelog); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.changelog, got, c.want)
		}
	}
}

func checked(t *testing.T, source string) *types.Package {
	t.Helper()
	set := token.NewFileSet()
	f := must(parser.ParseFile(set, "p.go", source, 0))(t)
	return must((&types.Config{Importer: importer.Default()}).Check("p", set, []*ast.File{f}, nil))(t)
}
