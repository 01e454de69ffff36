// Command work counts how often the code of the engine runs in fixed decisions, and compares
// the counts with testdata/work.golden. They are the same on every machine, so that a change
// that only makes a decision dearer, or cheaper, is seen.
//
//	go run ./internal/proof/work [-update] [-overlay FILE]
//
// A count is the sum over all blocks of a file of how often each ran, as the coverage of Go
// counts them. It exits 1 if a count differs, or if the decisions fail, and 2 if it cannot run.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	engine  = "./internal/engine/..."
	nodes   = "internal/engine/nodes/"
	packing = "internal/engine/best/packing/"
	golden  = "internal/proof/work/testdata/work.golden"
	head    = "# How often the code of each file of the engine runs in fixed decisions: the sum over its blocks.\n# See CONTRIBUTING.md, What decisions cost.\n"
)

// decisions are tests that make the same decisions each time; generated decisions have one seed. Counts are
// taken of some of the files. A sort after a hash table makes more or fewer comparisons each time: on nodes up
// to 1 in 100 of the count of a file, elsewhere 1 in 5,000. So less than the tolerance is no difference.
var decisions = []struct {
	tests, run string
	counted    func(file string) bool
	tolerance  float64
}{
	{"./preemption", `AreThoseOfTheGolden|TestLaws/^(AgreesWithReference|AgreesWithReferenceInACrowd|RetryAtIsExact|BlockersBlock|EditsHaveInverses|EditsSurviveJSON)$|^TestExactIsBest$|^TestNoExchangeIsLeft$|^TestDecidesByRules$|^TestSyncIsNewSnapshot$|^TestAssignmentLaws$|^TestLoopsFindsRecords$`,
		func(file string) bool { return !strings.HasPrefix(file, nodes) && !strings.HasPrefix(file, packing) }, 0.0005},
	{"./preemption/placement", `AreThoseOfTheGolden|TestLaws/^(AgreesWithReference|BestFitAgreesWithReference|SetsAgreeWithReference|PlacersAgreeWithReference|HardBudgetsHold|RetryAtIsTheFirstInstant|EditsMakeTheState|ConfigEditsAreFresh|SyncIsNewSnapshot)$|^TestExactIsBest$`,
		func(file string) bool { return strings.HasPrefix(file, nodes) || strings.HasPrefix(file, packing) }, 0.03},
}

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "work:", err)
	}
	os.Exit(code)
}

func run(args []string, w io.Writer) (code int, err error) {
	set := flag.NewFlagSet("work", flag.ContinueOnError)
	update := set.Bool("update", false, "rewrite "+golden)
	overlay := set.String("overlay", "", "compile with other files in the place of some, as `FILE` says")
	if err := set.Parse(args); err != nil {
		return 2, nil // said already
	}
	if set.NArg() > 0 {
		return 2, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	counts, err := count(*overlay)
	if err != nil {
		return cmp.Or(failed(err), 2), err
	}
	if *update {
		text := head
		for _, file := range slices.Sorted(maps.Keys(counts)) {
			text += fmt.Sprintf("%-45s %11d\n", file, counts[file])
		}
		return 0, os.WriteFile(golden, []byte(text), 0o644)
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		return 2, err
	}
	want, err := parse(string(text))
	if err != nil {
		return 2, err
	}
	if differ(w, want, counts) {
		return 1, errors.New("the engine does more or less than " + golden + " says; see CONTRIBUTING.md, What decisions cost")
	}
	return 0, nil
}

// failure says that the tests behind the decisions fail.
type failure struct{ error }

func failed(err error) int {
	if errors.As(err, &failure{}) {
		return 1
	}
	return 0
}

// count runs the decisions and returns the counts by file.
func count(overlay string) (counts map[string]int64, err error) {
	scratch, err := os.MkdirTemp("", "work")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	packages, err := output(".", "go", "list", engine)
	if err != nil {
		return nil, err
	}
	counts = map[string]int64{}
	for _, d := range decisions {
		tests, profile := filepath.Join(scratch, "tests"), filepath.Join(scratch, "profile")
		build := []string{"go", "test", "-c", "-vet=off", "-covermode=count", "-coverpkg=" + strings.Join(strings.Fields(string(packages)), ","), "-o", tests, d.tests}
		if overlay != "" {
			build = slices.Insert(build, 2, "-overlay="+overlay)
		}
		if _, err := output(".", build...); err != nil {
			return nil, err
		}
		if _, err := output(d.tests, tests, "-test.short", "-test.timeout=4m", "-test.run="+d.run, "-test.coverprofile="+profile, "-rapid.seed=1", "-rapid.checks=125", "-rapid.nofailfile", "-rapid.shrinktime=1ms"); err != nil {
			return nil, failure{err}
		}
		if err := read(profile, d.counted, counts); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// output runs a command in a directory, on one thread and without collection of garbage: pools then keep what
// they are given, and a search finds the same in them each time.
func output(dir string, command ...string) ([]byte, error) {
	c := exec.Command(command[0], command[1:]...)
	c.Dir = dir
	if !strings.HasPrefix(command[0], "go") {
		c.Env = append(os.Environ(), "GOGC=off", "GOMAXPROCS=1")
	}
	out, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, bytes.TrimSpace(out))
	}
	return out, nil
}

// read adds the counts of a profile, with lines as FILE:FROM,TO STATEMENTS COUNT.
func read(profile string, counted func(file string) bool, counts map[string]int64) error {
	f, err := os.Open(profile)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		file, rest, ok := strings.Cut(lines.Text(), ".go:")
		fields := strings.Fields(rest)
		if !ok || len(fields) != 3 {
			continue // the first line
		}
		n, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return err
		}
		_, file, _ = strings.Cut(file, "/internal/engine/")
		if file = "internal/engine/" + file + ".go"; counted(file) {
			counts[file] += n
		}
	}
	return lines.Err()
}

// differ prints the files with counts that differ, and reports whether there is one.
func differ(w io.Writer, was, now map[string]int64) (some bool) {
	all := maps.Clone(was)
	maps.Copy(all, now)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		most := 0.0
		for _, d := range decisions {
			if d.counted(file) {
				most = d.tolerance * float64(was[file])
			}
		}
		if math.Abs(float64(now[file]-was[file])) > most {
			fmt.Fprintf(w, "%s: %d, was %d\n", file, now[file], was[file])
			some = true
		}
	}
	return some
}

// parse reads the lines of the golden file, which are FILE COUNT.
func parse(text string) (map[string]int64, error) {
	counts := map[string]int64{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		file, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: want a file and its count", golden, line)
		}
		counts[file] = n
	}
	return counts, nil
}
