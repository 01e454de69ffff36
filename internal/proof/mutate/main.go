// Command mutate makes one small change to the library at a time, and prints the changes that
// no test notices. It does not change the sources; the same flags give the same answer.
//
//	go run ./internal/proof/mutate [flags] [packages]
//
// A mutant is a negated condition, a changed operator or constant, a dropped statement, a
// skipped loop, true for false, min for max. The tests of its package run first, then those of
// packages that use it, slow ones last. A test that does not end counts as failed. excused.txt
// beside this file lists mutants that no test can notice, with the reason; they are not run.
//
// It exits 1 if a mutant survives or an excuse is stale, and 2 if it cannot run: bad flags,
// tests that fail without a mutant, no mutant that matches.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
	}
	os.Exit(code)
}

// excuses is the list of excused mutants, from the root of the module.
const excuses = "internal/proof/mutate/excused.txt"

func run(args []string, w io.Writer) (code int, err error) {
	set := flag.NewFlagSet("mutate", flag.ContinueOnError)
	root := set.String("root", ".", "the directory of the module")
	match := set.String("match", "", "only mutants with a line, as -list prints it, that matches the `expression`")
	tests := set.String("tests", "./...", "the packages whose tests may run, with blanks between")
	n := set.Int("n", 0, "the number of mutants to draw by the seed; 0 is all")
	seed := set.Uint64("seed", 1, "the seed of what is drawn and of the generated tests")
	checks := set.Int("checks", 100, "the number of checks of a generated test")
	timeout := set.Duration("timeout", time.Minute, "how long the tests of a package may take")
	skip := set.String("skip", "Allocat|IsSmall|AreSmall", "no tests with a name that matches: a test that measures memory would measure that of the mutants beside")
	parallel := set.Int("parallel", 1, "the number of test programs that are compiled, and of mutants that are tested, at a time")
	list := set.Bool("list", false, "list the mutants and run none")
	verbose := set.Bool("v", false, "print each mutant with what became of it")
	if err := set.Parse(args); err != nil {
		return 2, nil // said already
	}
	matches, err := regexp.Compile(*match)
	if err != nil || *n < 0 || *checks < 1 || *timeout <= 0 || *parallel < 1 {
		return 2, cmp.Or(err, fmt.Errorf("-n %d, -checks %d, -timeout %v or -parallel %d is too small", *n, *checks, *timeout, *parallel))
	}
	scratch, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 2, err
	}
	defer os.RemoveAll(scratch)
	// With -test.short, rapid makes a fifth of the checks.
	r := &Runner{scratch: scratch, parallel: *parallel, flags: []string{fmt.Sprintf("-test.timeout=%v", *timeout), "-test.skip=" + *skip}, rapid: []string{
		fmt.Sprintf("-rapid.checks=%d", 5**checks), fmt.Sprintf("-rapid.seed=%d", *seed), "-rapid.nofailfile", "-rapid.shrinktime=1ms"}}
	if r.root, err = filepath.Abs(*root); err != nil {
		return 2, err
	}
	if err := r.list(strings.Fields(*tests)); err != nil {
		return 2, err
	}
	mutants, err := r.Mutants(set.Args())
	if err != nil {
		return 2, err
	}
	reasons, err := readExcuses(filepath.Join(r.root, excuses))
	if err != nil {
		return 2, err
	}
	for _, key := range stale(reasons, mutants) {
		fmt.Fprintln(w, "stale excuse:", key)
		code = 1
	}
	mutants = slices.DeleteFunc(mutants, func(m *Mutant) bool { return !matches.MatchString(m.String()) })
	if len(mutants) == 0 {
		return 2, fmt.Errorf("no mutant matches %q", *match)
	}
	if *list {
		for _, m := range mutants {
			fmt.Fprintln(w, m)
		}
		return code, nil
	}
	if *n > 0 {
		rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	}
	rows := map[string]*row{}
	note := func(m *Mutant, result Result, by string) {
		if rows[m.Package] == nil {
			rows[m.Package] = &row{}
		}
		rows[m.Package][result]++
		if result == Survived {
			code = 1
		}
		if result == Survived || *verbose {
			fmt.Fprintln(w, strings.TrimSpace(fmt.Sprintf("%v: %s %s", m, results[result], by)))
		}
	}
	var drawn []*Mutant
	for _, m := range mutants {
		switch {
		case *n > 0 && len(drawn) == *n:
		case reasons[m.Key()] != "":
			note(m, Excused, "")
		case !r.Compiles(m):
			note(m, Broken, "")
		default:
			drawn = append(drawn, m)
		}
	}
	if len(drawn) == 0 {
		return 2, fmt.Errorf("no mutant that matches %q compiles and has no excuse", *match)
	}
	for batch := range slices.Chunk(drawn, 500) {
		if err := r.Prepare(batch); err != nil {
			return 2, err
		}
		r.RunAll(batch, note)
	}
	table(w, rows)
	return code, nil
}

// row counts the mutants of a package by what became of them.
type row [len(results)]int

func table(w io.Writer, rows map[string]*row) {
	t, sum := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight), &row{}
	line := func(name string, r *row) {
		killed := r[Killed] + r[TimedOut]
		all := killed + r[Survived]
		percent := 100 * float64(killed) / float64(max(all, 1))
		fmt.Fprintf(t, "%d\t%d\t%.1f %%\t%d\t%d\t%d\t %s\n", all, killed, percent, r[TimedOut], r[Survived], r[Excused], name)
	}
	fmt.Fprintln(t, "\nmutants\tkilled\t\tby time-out\tsurvived\texcused\t package")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		for i, n := range rows[name] {
			sum[i] += n
		}
		line(name, rows[name])
	}
	line("together", sum)
	t.Flush()
}

// readExcuses reads the reasons by key: each key has a line of its own, and below one or more
// keys is the reason, indented. # begins a comment.
func readExcuses(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	reasons, keys := map[string]string{}, []string{""}
	for line := range strings.Lines(string(data)) {
		switch text := strings.TrimSpace(line); {
		case text == "" || strings.HasPrefix(text, "#"):
		case strings.HasPrefix(line, "\t"):
			for _, key := range keys {
				reasons[key] += text
			}
		default:
			if reasons[keys[0]] != "" || keys[0] == "" {
				keys = nil
			}
			keys, reasons[text] = append(keys, text), ""
		}
	}
	for _, key := range slices.Sorted(maps.Keys(reasons)) {
		if (key == "" || reasons[key] == "") && err == nil {
			err = fmt.Errorf("%s: %q, %q: a key and a reason belong together", path, key, reasons[key])
		}
	}
	return reasons, err
}

// stale returns the excuses, in the packages that were read, that no mutant needs.
func stale(reasons map[string]string, mutants []*Mutant) []string {
	read := map[string]bool{}
	for _, m := range mutants {
		read[filepath.Dir(m.File)], read[m.Key()] = true, true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(reasons)), func(key string) bool {
		file, _, _ := strings.Cut(key, ": ")
		return read[key] || !read[filepath.Dir(file)]
	})
}
