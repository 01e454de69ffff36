package guard

import (
	"go/ast"
	"go/parser"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// namedByTheAPI are fields whose JSON form has the name of the upstream API, by package and field.
var namedByTheAPI = map[string]bool{
	"limits.Limit.PreemptingQueues": true, "limits.Limit.PreemptedQueues": true,
	"rules.Rule.PreemptorPriorityClass": true, "rules.NumericLabel.Fallback": true,
}

// A field has one name: its name in JSON is that in Go, in another case, or that of the upstream API.
func TestFieldsHaveOneName(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.dir, "internal/") || strings.HasPrefix(s.dir, "examples/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			of, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range of.Fields.List {
				if f.Tag == nil || len(f.Names) != 1 {
					continue
				}
				tag, _ := strconv.Unquote(f.Tag.Value)
				name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				field := s.dir[strings.LastIndex(s.dir, "/")+1:] + "." + spec.Name.Name + "." + f.Names[0].Name
				same := strings.EqualFold(name, f.Names[0].Name)
				if name != "" && name != "-" && same == namedByTheAPI[field] {
					t.Errorf("%s is %q in JSON", field, name)
				}
				seen[field] = seen[field] || !same
			}
			return true
		})
	}
	for field := range namedByTheAPI {
		if !seen[field] {
			t.Errorf("%s is not there any more", field)
		}
	}
}

// plain are packages without rules of a design.
var plain = []string{"preemption/clock", kit}

// TestPackagesAreIntroduced: the comment of each exported package is a page. It shows a call, and says what the zero
// value means, what an error is, and where the rules come from.
func TestPackagesAreIntroduced(t *testing.T) {
	says := map[string]*regexp.Regexp{
		"a call":                      regexp.MustCompile(`(?m)^\t\S`),
		"what the zero value means":   regexp.MustCompile(`(?i)\bzero\b`),
		"what an error is":            regexp.MustCompile(`(?i)\b(fails?|errors?|faults?)\b`),
		"where the rules come from":   regexp.MustCompile(`(?i)\b(sources?|KEP-\d+|Kueue|kubernetes)\b`),
		"itself in seventy words":     regexp.MustCompile(`(?s)^(\S+\s+){69}`),
		"itself in a first paragraph": regexp.MustCompile(`\n\n`),
	}
	packages := 0
	for _, s := range sources(t) {
		text := s.file.Doc.Text()
		if s.test || strings.HasPrefix(s.dir, "internal/") || !strings.HasPrefix(text, "Package ") {
			continue
		}
		packages++
		for what, pattern := range says {
			if !pattern.MatchString(text) && !(what == "where the rules come from" && slices.Contains(plain, s.dir)) {
				t.Errorf("%s: the comment of the package does not say %s", s.name, what)
			}
		}
	}
	if packages < 20 {
		t.Errorf("only %d packages", packages)
	}
}

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
