package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ask runs the program on the tiny module.
func ask(t *testing.T, args ...string) (code int, out string, err error) {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles a lot")
	}
	t.Setenv("GOWORK", "off")
	var b strings.Builder
	code, err = run(append([]string{"-root", "testdata/tiny", "-timeout", "3s"}, args...), &b)
	return code, b.String(), err
}

// All mutants of the tiny module, with what becomes of each.
func TestTiny(t *testing.T) {
	code, out, err := ask(t, "-v", "./...")
	if code != 1 || err != nil {
		t.Errorf("exit %d, %v", code, err)
	}
	want, err := os.ReadFile("testdata/tiny.golden")
	if err != nil {
		t.Fatal(err)
	}
	if out != string(want) {
		t.Errorf("is\n%swant\n%s", out, want)
	}
}

// A seed draws the same mutants each time, another seed others.
func TestSeed(t *testing.T) {
	drawn := map[string]string{}
	for _, seed := range []string{"1", "2", "1"} {
		code, out, err := ask(t, "-v", "-n", "3", "-seed", seed, "-match", "Abs|Unused", ".")
		if asked := strings.Count(out, ": killed by") + strings.Count(out, ": survived"); err != nil || asked != 3 {
			t.Errorf("exit %d, %v:\n%s", code, err, out)
		}
		if drawn[seed] != "" && drawn[seed] != out {
			t.Errorf("seed %s draws\n%sand\n%s", seed, drawn[seed], out)
		}
		drawn[seed] = out
	}
	if drawn["1"] == drawn["2"] {
		t.Errorf("two seeds draw\n%s", drawn["1"])
	}
}

// The tests of other packages kill too; without them the mutant survives.
func TestCallers(t *testing.T) {
	for tests, want := range map[string]string{"./...": "killed by tiny/deep", ".": ": survived"} {
		if code, out, err := ask(t, "-v", "-match", `sum -= n`, "-tests", tests, "."); err != nil || !strings.Contains(out, want) {
			t.Errorf("-tests %s: exit %d, %v:\n%s", tests, code, err, out)
		}
	}
}

// A question that cannot be asked is no success.
func TestCannotAsk(t *testing.T) {
	for _, args := range [][]string{
		{"-match", "nothing like that", "."},
		{"-match", "n <= 0", "."}, // the only one is excused
		{"-match", "("},
		{"-n", "-1"},
		{"-checks", "0"},
		{"-root", "testdata/none"},
		{"-root", "testdata"}, // no list of excuses
		{"./nosuch"},
	} {
		if code, out, err := ask(t, args...); code != 2 || err == nil {
			t.Errorf("%q: exit %d, %v:\n%s", args, code, err, out)
		}
	}
}

func TestExcuses(t *testing.T) {
	for text, ok := range map[string]bool{
		"":                               true,
		"# none\n":                       true,
		"a.go: f: a => b\n\tReason.\n":   true,
		"a.go: f: a => b\n":              false,
		"a.go: f: a => b\na.go: f\n\tR.": true, // of both
		"a.go: f\n\tR.\na.go: g\n":       false,
		"\tReason of nothing.\n":         false,
	} {
		path := filepath.Join(t.TempDir(), "excused.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readExcuses(path); (err == nil) != ok {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
