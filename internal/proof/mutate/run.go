package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Result is what became of a mutant.
type Result int

const (
	Survived Result = iota
	Killed
	TimedOut // killed: a test did not end
	Excused
	Broken // does not compile, so it is none
)

var results = [...]string{"survived", "killed by", "killed by time-out:", "excused", "does not compile"}

// Runner runs tests on mutants. The tree is never changed: the go command reads other
// files in the place of those that are changed (-overlay).
type Runner struct {
	root, scratch string
	parallel      int               // tests and mutants at a time
	flags, rapid  []string          // of all tests, of those that are linked with rapid
	packages      map[string]listed // by import path
	tests         []*listed         // slow ones last, those linked with fewer packages first
	files         *token.FileSet
	imports       types.Importer
}

// listed is what go list says of a package, or of the tests of one.
type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles, Deps                 []string

	linked map[string]bool
	binary string
	took   time.Duration // without a mutant
}

// list lists the packages with all that they import, and the tests.
func (r *Runner) list(patterns []string) error {
	out, err := r.output("", append([]string{"go", "list", "-test", "-deps", "-export", "-json=ImportPath,Name,Dir,Export,GoFiles,Deps"}, patterns...)...)
	if err != nil {
		return fmt.Errorf("go list: %s", out)
	}
	r.packages, r.files = map[string]listed{}, token.NewFileSet()
	r.imports = importer.ForCompiler(r.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(r.packages[path].Export) })
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("go list: %w in %s", err, out)
		}
		r.packages[p.ImportPath] = p
		if path, ok := strings.CutSuffix(p.ImportPath, ".test"); ok && p.Name == "main" {
			p.ImportPath, p.linked = path, map[string]bool{}
			for _, d := range p.Deps {
				p.linked[strings.SplitN(d, " ", 2)[0]] = true
			}
			r.tests = append(r.tests, &p)
		}
	}
	slices.SortStableFunc(r.tests, func(a, b *listed) int { return len(a.linked) - len(b.linked) })
	return nil
}

// output runs a command in a directory, from the root.
func (r *Runner) output(mutant string, command ...string) ([]byte, error) {
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Env = r.root, append(os.Environ(), "MUTANT="+mutant)
	return c.CombinedOutput()
}

// Mutants returns the mutants of the packages in the order of their files.
func (r *Runner) Mutants(patterns []string) (list []*Mutant, err error) {
	out, err := r.output("", append([]string{"go", "list"}, patterns...)...)
	if err != nil {
		return nil, fmt.Errorf("go list: %s", out)
	}
	for _, path := range strings.Fields(string(out)) {
		p, ok := r.packages[path]
		if !ok {
			return nil, fmt.Errorf("no test that may run is linked with %s", path)
		}
		for _, name := range p.GoFiles {
			found, err := Find(path, r.root, filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
	}
	return list, nil
}

// Compiles reports whether the package of a mutant has no error of type.
func (r *Runner) Compiles(m *Mutant) bool {
	var syntax []*ast.File
	p := r.packages[m.Package]
	for _, name := range p.GoFiles {
		path, source := filepath.Join(p.Dir, name), any(nil)
		if path == m.path {
			source = m.Source()
		}
		f, err := parser.ParseFile(r.files, path, source, parser.SkipObjectResolution)
		if err != nil {
			return false
		}
		syntax = append(syntax, f)
	}
	_, err := (&types.Config{Importer: r.imports}).Check(m.Package, r.files, syntax, nil)
	return err == nil
}

// Prepare compiles the tests once, with all the mutants in them, and runs them without any
// of these: all must pass. Each function does what its mutant does when MUTANT is the
// mutant's number, from 1.
func (r *Runner) Prepare(mutants []*Mutant) error {
	files, replace, written := map[string][]*Mutant{}, map[string]string{}, 0
	write := func(at string, text []byte) error {
		written++
		replace[at] = filepath.Join(r.scratch, fmt.Sprint(written, ".go"))
		return os.WriteFile(replace[at], text, 0o600)
	}
	for i, m := range mutants {
		m.number = i + 1
		files[m.path] = append(files[m.path], m)
	}
	for path, list := range files {
		p := r.packages[list[0].Package]
		number := fmt.Sprintf("package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantNumber, _ = strconv.Atoi(os.Getenv(\"MUTANT\"))\n", p.Name)
		if err := errors.Join(write(path, together(list)), write(filepath.Join(p.Dir, "mutant_number.go"), []byte(number))); err != nil {
			return err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	plan := filepath.Join(r.scratch, "overlay.json")
	if err := os.WriteFile(plan, overlay, 0o600); err != nil {
		return err
	}
	var jobs []func() error
	for i, t := range r.tests {
		if t.binary = ""; slices.ContainsFunc(mutants, func(m *Mutant) bool { return t.linked[m.Package] }) {
			t.binary = filepath.Join(r.scratch, fmt.Sprint(i, ".test"))
			jobs = append(jobs, func() error { return r.compile(t, plan) })
		}
	}
	if len(jobs) > 0 { // the first compiles what the others are linked with, too
		if err := jobs[0](); err != nil {
			return err
		}
		if err := atATime(r.parallel, jobs[1:]); err != nil {
			return err
		}
	}
	// By steps of some seconds, so that quick ones stay in order.
	const step = 4 * time.Second
	slices.SortStableFunc(r.tests, func(a, b *listed) int { return cmp.Compare(a.took/step, b.took/step) })
	return nil
}

// compile compiles the tests of a package with all mutants, and runs them without any.
func (r *Runner) compile(t *listed, plan string) error {
	if out, err := r.output("", "go", "test", "-c", "-vet=off", "-overlay="+plan, "-o", t.binary, t.ImportPath); err != nil {
		return fmt.Errorf("the tests of %s do not compile with all mutants:\n%s", t.ImportPath, out)
	}
	began := time.Now()
	if out, err := r.run(t, 0); err != nil {
		return fmt.Errorf("the tests of %s fail without a mutant:\n%s", t.ImportPath, out)
	}
	t.took = time.Since(began)
	return nil
}

// atATime does all jobs, so many at a time, and returns the first error in their order.
func atATime(most int, jobs []func() error) error {
	errs, slots := make([]error, len(jobs)), make(chan struct{}, most)
	var done sync.WaitGroup
	for i, job := range jobs {
		slots <- struct{}{}
		done.Go(func() {
			errs[i] = job()
			<-slots
		})
	}
	done.Wait()
	return cmp.Or(errs...)
}

// run runs a test with one mutant; 0 is none.
func (r *Runner) run(t *listed, number int) ([]byte, error) {
	args := append([]string{t.binary, "-test.short", "-test.failfast"}, r.flags...)
	if t.linked["pgregory.net/rapid"] {
		args = append(args, r.rapid...)
	}
	here := *r
	here.root = t.Dir
	return here.output(fmt.Sprint(number), args...)
}

// RunAll runs the tests on mutants and notes what became of each, in order.
func (r *Runner) RunAll(mutants []*Mutant, note func(m *Mutant, result Result, by string)) {
	type verdict struct {
		result Result
		by     string
	}
	list, jobs := make([]chan verdict, len(mutants)), make([]func() error, len(mutants))
	for i, m := range mutants {
		list[i] = make(chan verdict, 1)
		jobs[i] = func() error {
			result, by := r.Run(m)
			list[i] <- verdict{result, by}
			return nil
		}
	}
	go atATime(r.parallel, jobs)
	for i, m := range mutants {
		v := <-list[i]
		note(m, v.result, v.by)
	}
}

// Run runs the tests on a mutant, those of its own package first, until one fails; by is
// the package of that one.
func (r *Runner) Run(m *Mutant) (result Result, by string) {
	for _, own := range []bool{true, false} {
		for _, t := range r.tests {
			if own != (t.ImportPath == m.Package) || !t.linked[m.Package] {
				continue
			}
			if out, err := r.run(t, m.number); bytes.Contains(out, []byte("panic: test timed out")) {
				return TimedOut, t.ImportPath
			} else if err != nil {
				return Killed, t.ImportPath
			}
		}
	}
	return Survived, ""
}
