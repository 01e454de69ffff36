package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Result is what became of a mutant.
type Result int

const (
	Survived Result = iota
	NotRun          // survived: no test runs the changed place
	Killed
	TimedOut // killed: a test did not end
	Excused
	Broken // does not compile, so it is none
)

var results = [...]string{"survived", "survived: no test runs it", "killed by", "killed by time-out:", "excused", "does not compile"}

// Runner runs tests on changed sources. The tree is never changed: the go command reads
// another file in the place of the one that is changed (-overlay).
type Runner struct {
	root, scratch string
	flags, rapid  []string // of all tests, of those that are linked with rapid
	tests         []*test  // those linked with fewer packages first
}

// test is the tests of one package.
type test struct {
	path   string
	linked map[string]bool    // packages
	blocks map[string][]block // of the files of the packages under mutation
}

// block is a stretch of code.
type block struct {
	from, to [2]int // line and column
	runs     bool
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, ForTest string
	GoFiles, Deps            []string
}

func (r *Runner) list(patterns []string) (list []listed, err error) {
	out, err := r.output(append([]string{"list", "-test", "-json=ImportPath,Dir,ForTest,GoFiles,Deps"}, patterns...)...)
	if err != nil {
		return nil, fmt.Errorf("go list: %s", out)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w in %s", err, out)
		}
		list = append(list, p)
	}
}

func (r *Runner) output(args ...string) ([]byte, error) {
	c := exec.Command("go", args...)
	c.Dir = r.root
	return c.CombinedOutput()
}

// Mutants returns the mutants of the packages in the order of their files, and the packages.
func (r *Runner) Mutants(patterns []string) (list []*Mutant, packages []string, err error) {
	all, err := r.list(patterns)
	for _, p := range all {
		if p.ForTest != "" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		packages = append(packages, p.ImportPath)
		for _, name := range p.GoFiles {
			found, err := Find(p.ImportPath, r.root, filepath.Join(p.Dir, name))
			if err != nil {
				return nil, nil, err
			}
			list = append(list, found...)
		}
	}
	return list, packages, err
}

// Prepare runs the tests that are linked with a package under mutation, without a mutant.
// All must pass; what they run is noted.
func (r *Runner) Prepare(patterns, packages []string) error {
	all, err := r.list(patterns)
	if err != nil {
		return err
	}
	for _, p := range all {
		path, ok := strings.CutSuffix(p.ImportPath, ".test")
		t := &test{path, map[string]bool{}, map[string][]block{}}
		for _, d := range p.Deps {
			t.linked[strings.SplitN(d, " ", 2)[0]] = true
		}
		if ok && slices.ContainsFunc(packages, func(p string) bool { return t.linked[p] }) {
			r.tests = append(r.tests, t)
		}
	}
	slices.SortStableFunc(r.tests, func(a, b *test) int { return len(a.linked) - len(b.linked) })
	profile := filepath.Join(r.scratch, "cover")
	for _, t := range r.tests {
		if out, err := r.test(t, "-coverpkg="+strings.Join(packages, ","), "-coverprofile="+profile); err != nil {
			return fmt.Errorf("the tests of %s fail without a mutant:\n%s", t.path, out)
		}
		data, err := os.ReadFile(profile)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			var b block
			var statements, count int
			file, rest, _ := strings.Cut(line, ".go:")
			if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.from[0], &b.from[1], &b.to[0], &b.to[1], &statements, &count); err == nil {
				b.runs = count > 0
				t.blocks[file+".go"] = append(t.blocks[file+".go"], b)
			}
		}
	}
	return nil
}

func (r *Runner) test(t *test, flags ...string) ([]byte, error) {
	args := append(append([]string{"test", "-vet=off", "-short", "-failfast", "-ldflags=-s -w"}, flags...), r.flags...)
	if args = append(args, t.path); t.linked["pgregory.net/rapid"] {
		args = append(args, r.rapid...)
	}
	return r.output(args...)
}

// reaches reports whether the test may run the place of a mutant. What is in no block, as
// declarations and the expressions of a case, may be run by any.
func (t *test) reaches(m *Mutant) bool {
	at, inside := [2]int{m.Line, m.Column}, false
	for _, b := range t.blocks[m.Package+"/"+filepath.Base(m.File)] {
		if slices.Compare(at[:], b.from[:]) >= 0 && slices.Compare(at[:], b.to[:]) < 0 {
			if b.runs {
				return true
			}
			inside = true
		}
	}
	return !inside && t.linked[m.Package]
}

// Run runs the tests on a mutant, those of its own package first, until one fails; by is
// the package of that one.
func (r *Runner) Run(m *Mutant) (result Result, by string, err error) {
	changed, overlay := filepath.Join(r.scratch, "mutant.go"), filepath.Join(r.scratch, "overlay.json")
	plan, _ := json.Marshal(map[string]any{"Replace": map[string]string{m.path: changed}})
	if err := errors.Join(os.WriteFile(changed, m.Source(), 0o644), os.WriteFile(overlay, plan, 0o644)); err != nil {
		return 0, "", err
	}
	result = NotRun
	for _, own := range []bool{true, false} {
		for _, t := range r.tests {
			if own != (t.path == m.Package) || !t.reaches(m) {
				continue
			}
			result = Survived
			switch out, err := r.test(t, "-overlay="+overlay); {
			case err == nil:
			case bytes.Contains(out, []byte("[build failed]")):
				return Broken, "", nil
			case bytes.Contains(out, []byte("panic: test timed out")):
				return TimedOut, t.path, nil
			default:
				return Killed, t.path, nil
			}
		}
	}
	if result == NotRun {
		if _, err := r.output("build", "-overlay="+overlay, m.Package); err != nil {
			return Broken, "", nil
		}
	}
	return result, "", nil
}
