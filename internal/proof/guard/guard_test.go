// Package guard holds tests of the project's own rules: which package may import
// which, what the library keeps away from, what it exports.
package guard

import (
	"bytes"
	"flag"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	root   = "../../.."
	module = "github.com/cedesched/cede"
)

// source is a Go file of the library module.
type source struct {
	dir  string // relative to the root
	name string
	test bool
	file *ast.File
}

var files = token.NewFileSet()

func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() && (rel == "examples" || slices.Contains(tools, rel) || strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		list = append(list, source{filepath.ToSlash(filepath.Dir(rel)), rel, strings.HasSuffix(rel, "_test.go"), f})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 30 {
		t.Fatalf("only %d files: is this the root?", len(list))
	}
	return list
}

func (s *source) imports() []string {
	var list []string
	for _, i := range s.file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		list = append(list, path)
	}
	return list
}

// tools are programs for those who work on the library, and no part of it.
var tools = []string{"internal/proof/mutate"}

// kit is the exported test kit, which may import rapid; seed fixes the seed of rapid.
const (
	kit  = "preemption/preemptiontest"
	seed = "internal/proof/seed"
)

// TestStandardLibraryOnly: library packages import the standard library only.
func TestStandardLibraryOnly(t *testing.T) {
	for _, s := range sources(t) {
		for _, path := range s.imports() {
			foreign := strings.Contains(strings.SplitN(path, "/", 2)[0], ".") && path != module && !strings.HasPrefix(path, module+"/")
			if foreign && !s.test && s.dir != kit && s.dir != seed {
				t.Errorf("%s imports %s", s.name, path)
			}
		}
	}
}

// rooms lists the packages from the bottom up. A package may import those of the rooms below
// its own, and of its own room those in a line above its own line.
var rooms = []struct {
	name  string
	lines [][]string
}{
	{"base: what every other room may use", [][]string{
		{"internal/base/difference", "internal/base/fault", "internal/base/enum", "internal/base/heap", "internal/base/instant", "internal/base/least", "internal/base/spare"},
		{"internal/base/jsonform"},
	}},
	{"persist: structures that share what did not change", [][]string{
		{"internal/persist/ordered", "internal/persist/trie", "internal/persist/vector"},
		{"internal/persist/listed"},
	}},
	{"clock: what time it is, and what is due when", [][]string{{"preemption/clock"}}},
	{"values: what users write down", [][]string{
		{"quota"},
		{"internal/entitled"},
		{"gate", "minruntime", "quota/fairshare"},
		{"workload"},
		{"queue"},
		{"queue/limits", "queue/rules"},
	}},
	{"engine: what decides", [][]string{
		{"internal/engine/best/lagrange", "internal/engine/minimum", "internal/engine/selectors"},
		{"internal/engine/trace"},
		{"internal/engine/quotatree"},
		{"internal/engine/cluster", "internal/engine/nodes/state"},
		{"internal/engine/nodes/ask"},
		{"internal/engine/nodes/budget", "internal/engine/nodes/unit"},
		{"internal/engine/nodes/room"},
		{"internal/engine/nodes/place"},
		{"internal/engine/nodes/search"},
		{"internal/engine/usage"},
		{"internal/engine/right"},
		{"internal/engine/source"},
		{"internal/engine/search"},
		{"internal/engine/best", "internal/engine/fair", "internal/engine/reclaim", "internal/engine/rules", "internal/engine/when", "internal/engine/why"},
		{"internal/engine/decide"},
		{"internal/engine/assign"},
	}},
	{"doors: what users call", [][]string{
		{"preemption"},
		{"preemption/placement"},
		{"preemption/settle"},
		{"preemption/moves"},
	}},
	// The slow models know the types of the doors and nothing of the engine.
	{"witness: the slow models, and the judge above them", [][]string{{"internal/witness", "internal/witness/nodes"}, {"preemption/verify"}, {"preemption/audit"}}},
	{"loops: decisions one after the other", [][]string{{"preemption/cycle", "preemption/loops", "preemption/safe"}}},
	{"words: what people read of a decision", [][]string{{"preemption/explain"}}},
	{"recorded: decisions of other schedulers", [][]string{{"preemption/recorded"}}},
	{"proof: what shows that all this is right", [][]string{
		{"internal/proof/agree", "internal/proof/forms", "internal/proof/golden", "internal/proof/model", seed, "preemption/preemptiontest/asrules"},
		{"preemption/preemptiontest/scenario", kit},
		{"internal/proof/derive"},
	}},
}

// TestImportsPointOneWay: no import runs back up the rooms.
func TestImportsPointOneWay(t *testing.T) {
	layer := map[string]int{}
	for _, room := range rooms {
		for _, line := range room.lines {
			next := len(layer) + 1 // of no package yet
			for _, dir := range line {
				layer[dir] = next
			}
		}
	}
	gone := maps.Clone(layer)
	for _, s := range sources(t) {
		delete(gone, s.dir)
		if s.test {
			continue
		}
		at, known := layer[s.dir]
		if !known {
			t.Errorf("%s: package %s is in no layer", s.name, s.dir)
			continue
		}
		for _, path := range s.imports() {
			if below, ours := strings.CutPrefix(path, module+"/"); ours && layer[below] >= at {
				t.Errorf("%s imports %s, which is not below it", s.name, below)
			}
		}
	}
	for dir := range gone {
		t.Errorf("there is no package %s", dir)
	}
}

// systemClock is the one place that reads the clock of the machine, for loops around decisions.
const systemClock = "preemption/clock/clock.go"

// TestWitnessKnowsNothingOfTheEngine: what decisions are compared with and judged by shares no code with what decides.
func TestWitnessKnowsNothingOfTheEngine(t *testing.T) {
	for _, s := range sources(t) {
		witness := strings.HasPrefix(s.dir, "internal/witness") // by another hand: it shares nothing
		if s.test || s.dir != "preemption/verify" && !witness {
			continue
		}
		for _, path := range s.imports() {
			if strings.HasPrefix(path, module+"/internal/engine") || witness && strings.HasPrefix(path, module+"/internal/") {
				t.Errorf("%s imports %s", s.name, path)
			}
		}
	}
}

// TestNoSideEffects: the library reads no clock and no randomness, logs nothing,
// starts no goroutine, knows no files, and does not panic. (sync.Pool in preemption
// reuses memory and reaches no answer; recorded reads what it is given.)
func TestNoSideEffects(t *testing.T) {
	banned := []string{"log", "log/slog", "os", "os/exec", "math/rand", "math/rand/v2", "crypto/rand", "net", "net/http", "unsafe"}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, path := range s.imports() {
			if slices.Contains(banned, path) {
				t.Errorf("%s imports %s", s.name, path)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine", files.Position(n.Pos()))
			case *ast.CallExpr:
				var b bytes.Buffer
				printer.Fprint(&b, files, n.Fun)
				if b.String() == "time.Now" && s.name == systemClock {
					return true
				}
				if slices.Contains([]string{"panic", "time.Now", "time.Since", "time.Until", "time.Sleep", "print", "println"}, b.String()) {
					t.Errorf("%s calls %s", files.Position(n.Pos()), b.String())
				}
			}
			return true
		})
	}
}

var update = flag.Bool("update", false, "rewrite the golden file of the exported API")

// TestExportedAPI compares the exported declarations with a golden file, so that a
// change of the API is seen and reviewed. Rewrite it with
//
//	go test ./internal/proof/guard -run API -update
func TestExportedAPI(t *testing.T) {
	packages := map[string][]*ast.File{}
	for _, s := range sources(t) {
		if !s.test && !strings.HasPrefix(s.dir, "internal/") {
			packages[s.dir] = append(packages[s.dir], s.file)
		}
	}
	var dirs []string
	for dir := range packages {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	var b strings.Builder
	for _, dir := range dirs {
		exported(t, &b, dir, packages[dir])
	}
	const golden = "testdata/api.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := must(os.ReadFile(golden))(t)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("the exported API changed (- was, + is); if it should, run with -update:\n%s", diff)
	}
}

// exported writes what a package exports, as go doc -all does without the comments.
func exported(t *testing.T, b *strings.Builder, dir string, syntax []*ast.File) {
	p := must(doc.NewFromFiles(files, syntax, module+"/"+dir))(t)
	b.WriteString("package " + module + "/" + dir + "\n\n")
	var decls []ast.Node
	values := func(list []*doc.Value) {
		for _, v := range list {
			decls = append(decls, v.Decl)
		}
	}
	funcs := func(list []*doc.Func) {
		for _, f := range list {
			decls = append(decls, f.Decl)
		}
	}
	values(p.Consts)
	values(p.Vars)
	funcs(p.Funcs)
	for _, ty := range p.Types {
		decls = append(decls, ty.Decl)
		values(ty.Consts)
		values(ty.Vars)
		funcs(ty.Funcs)
		funcs(ty.Methods)
	}
	comments := regexp.MustCompile(`(?m)\s*//.*$`)
	blanks := regexp.MustCompile(`\n(\s*\n)+`)
	style := printer.Config{Mode: printer.UseSpaces, Tabwidth: 4}
	for _, d := range decls {
		var text bytes.Buffer
		if err := style.Fprint(&text, files, d); err != nil {
			t.Fatal(err)
		}
		plain := blanks.ReplaceAllString(comments.ReplaceAllString(text.String(), ""), "\n")
		b.WriteString(strings.TrimSpace(plain) + "\n\n")
	}
}

// must returns what came without an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
