package guard

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// page is a page of the documentation.
type page struct {
	path string // relative to the root
	text string
}

func pages(t *testing.T) []page {
	t.Helper()
	var list []page
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/bridge/*/*.md"} {
		found := must(filepath.Glob(filepath.Join(root, pattern)))(t)
		for _, path := range found {
			text := must(os.ReadFile(path))(t)
			rel, _ := filepath.Rel(root, path)
			list = append(list, page{filepath.ToSlash(rel), string(text)})
		}
	}
	if len(list) < 15 {
		t.Fatalf("only %d pages", len(list))
	}
	return list
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence   = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")
	noWord  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the names that a page's headings have in links.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		names[strings.ReplaceAll(noWord.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return names
}

// TestLinks: what a page links to inside the project is there, headings included.
func TestLinks(t *testing.T) {
	links := 0
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			links++
			path := filepath.Join(root, filepath.Dir(p.path), target)
			if target == "" {
				path = filepath.Join(root, p.path)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s, which is not there", p.path, m[1])
				continue
			}
			if anchor == "" {
				continue
			}
			if text, err := os.ReadFile(path); err != nil || !anchors(string(text))[anchor] {
				t.Errorf("%s links to %s, which has no such heading", p.path, m[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links", links)
	}
}

// TestExcerpts: Go in a page is an excerpt of a file that is compiled, a derivation one of a
// derivation file, but for the indentation.
func TestExcerpts(t *testing.T) {
	sources := map[string]string{
		"go":         flat(t, ".", ".go"),
		"derivation": flat(t, "internal/proof/derive/testdata", ".txt"),
	}
	seen := map[string]int{}
	for _, p := range pages(t) {
		for _, m := range fence.FindAllStringSubmatch(p.text, -1) {
			source, checked := sources[m[1]]
			if !checked || strings.HasPrefix(m[2], "package main\n") { // TestPrograms runs it
				continue
			}
			seen[m[1]]++
			if !strings.Contains(source, unindented(m[2])) {
				t.Errorf("%s: no file holds\n%s", p.path, m[2])
			}
		}
	}
	if seen["go"] < 3 || seen["derivation"] < 5 {
		t.Errorf("only %v excerpts", seen)
	}
}

// TestPrograms: a whole program in a page runs, and prints what stands after it.
func TestPrograms(t *testing.T) {
	ran := 0
	for _, p := range pages(t) {
		blocks := fence.FindAllStringSubmatch(p.text, -1)
		for i, m := range blocks {
			if m[1] != "go" || !strings.HasPrefix(m[2], "package main\n") {
				continue
			}
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(m[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			run := exec.Command("go", "run", file)
			run.Dir = filepath.Join(root, "preemption")
			if out, err := run.CombinedOutput(); err != nil || i+1 == len(blocks) || string(out) != blocks[i+1][2] {
				t.Errorf("%s: %v, it prints\n%s", p.path, err, out)
			}
			ran++
		}
	}
	if ran == 0 {
		t.Error("no page has a program")
	}
}

// flat joins the files with an ending below a directory, without indentation.
func flat(t *testing.T, dir, ending string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ending {
			return err
		}
		text, err := os.ReadFile(path)
		b.WriteString(unindented(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, "\n")
}

// TestREADMEIsShort: who opens it has two minutes.
func TestREADMEIsShort(t *testing.T) {
	for _, p := range pages(t) {
		if p.path == "README.md" {
			if n := len(strings.Fields(p.text)); n > 900 {
				t.Errorf("README has %d words", n)
			}
			return
		}
	}
	t.Error("no README")
}

// TestREADMEHasBothCommands: one runs the main job, one all tests.
func TestREADMEHasBothCommands(t *testing.T) {
	for _, p := range pages(t) {
		for _, command := range []string{"go run ./examples/whatif", "go test ./... ./examples/..."} {
			if p.path == "README.md" && !strings.Contains(p.text, "\n    "+command+"\n") {
				t.Errorf("README does not have the command %s on a line of its own", command)
			}
		}
	}
}

// TestArchitectureNamesPackages: docs/architecture.md says what each package of the library holds, by its
// whole path.
func TestArchitectureNamesPackages(t *testing.T) {
	text := must(os.ReadFile(filepath.Join(root, "docs", "architecture.md")))(t)
	named := map[string]bool{}
	for _, name := range regexp.MustCompile("`([a-z0-9/]+)`").FindAllStringSubmatch(string(text), -1) {
		named[name[1]] = true
	}
	packages := 0
	for _, s := range sources(t) {
		if !s.test && !named[s.dir] {
			t.Errorf("docs/architecture.md does not name %s", s.dir)
			named[s.dir] = true // once
		}
		packages++
	}
	if packages < 30 {
		t.Errorf("only %d files", packages)
	}
}
