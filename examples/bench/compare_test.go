package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

var two = []string{"-world", "f1*", "-scenario", "within-k1,admit"}

// A report is one line with version, commit and machine; one of steps has only what is the same everywhere.
func TestReport(t *testing.T) {
	status, stdout, _ := call(nil, append(two, "-o", "json")...)
	if want := `^{"version":1,("commit":"\w+",)?"machine":{"go":"go[^"]+","os":"\w+","arch":"\w+",("cpu":"[^"]+",)?"processors":\d+},"rows":\[{"name":.*}\]}\n$`; status != 0 || !regexp.MustCompile(want).MatchString(stdout) {
		t.Errorf("status %d: %s", status, stdout)
	}
	status, stdout, _ = call(nil, append(two, "-o", "steps")...)
	want := `^{"version":1,"rows":\[
{"name":"Decide/within-k1/classical/world=f1-1k-10-1/queues=10/workloads=1000","steps":\d+,"allocs_op":\d+},
{"name":"Admit/world=f1-1k-10-1/queues=10/workloads=1000","steps":0,"allocs_op":\d+}\]}
$`
	if status != 0 || !regexp.MustCompile(want).MatchString(stdout) {
		t.Errorf("status %d: %s", status, stdout)
	}
	if r, err := parseReport([]byte(stdout)); err != nil || len(r.Rows) != 2 {
		t.Errorf("%v: %+v", err, r)
	}
}

// More steps or allocations than are permitted are worse, more time is a warning.
func TestCompare(t *testing.T) {
	for name, c := range map[string]struct {
		change func(decision, edit, snapshot *row) // of the earlier report
		worse  int
		want   string
	}{
		"the same":            {func(d, e, s *row) {}, 0, "3 rows compared, 1 in blocks of code, 0 worse"},
		"fewer steps":         {func(d, e, s *row) { d.Steps = 95 }, 1, "worse: Decide/a: 100 steps, were 95"},
		"hardly fewer steps":  {func(d, e, s *row) { d.Steps = 96 }, 0, "0 worse"},
		"more steps":          {func(d, e, s *row) { d.Steps = 200 }, 0, "0 worse"},
		"allocations":         {func(d, e, s *row) { d.Allocs = 7 }, 1, "worse: Decide/a: 10 allocations, were 7"},
		"hardly fewer":        {func(d, e, s *row) { d.Allocs = 8 }, 0, "0 worse"},
		"of an edit":          {func(d, e, s *row) { e.Allocs = 24 }, 0, "0 worse"},
		"of an edit, more":    {func(d, e, s *row) { e.Allocs = 20 }, 1, "worse: Admit/a: 40 allocations, were 20"},
		"of a snapshot":       {func(d, e, s *row) { s.Allocs = 910 }, 0, "0 worse"},
		"of two":              {func(d, e, s *row) { d.Steps, s.Allocs = 50, 800 }, 2, "2 worse"},
		"less time":           {func(d, e, s *row) { d.Ns = 600 }, 0, "slower: Decide/a: 1µs, was 600ns"},
		"no time":             {func(d, e, s *row) { d.Ns = 0 }, 0, "0 worse"},
		"hardly less time":    {func(d, e, s *row) { d.Ns = 700 }, 0, "0 worse"},
		"fewer blocks":        {func(d, e, s *row) { d.Blocks = 9000 }, 1, "worse: Decide/a: 10000 blocks of code, were 9000"},
		"hardly fewer blocks": {func(d, e, s *row) { d.Blocks = 9500 }, 0, "1 in blocks of code, 0 worse"},
		"another name":        {func(d, e, s *row) { d.Name = "Decide/b" }, 0, "2 rows compared, 0 in blocks of code, 0 worse"},
	} {
		t.Run(name, func(t *testing.T) {
			rows := []row{{Name: "Decide/a", Steps: 100, Allocs: 10, Blocks: 10_000, Ns: 1000}, {Name: "Admit/a", Allocs: 40, Ns: 1000}, {Name: "NewSnapshot/a", Allocs: 1000, Ns: 1000}}
			before := slices.Clone(rows)
			c.change(&before[0], &before[1], &before[2])
			var b strings.Builder
			worse, err := compare(&b, options{worlds: globs{"*"}, more: 5, slower: 50}, report{Rows: before}, rows)
			if worse != c.worse || err != nil || !strings.Contains(b.String(), c.want) || strings.Contains(b.String(), "slower") != (name == "less time") {
				t.Errorf("%d worse, want %d, %v: %q, want %q", worse, c.worse, err, &b, c.want)
			}
		})
	}
	if _, err := compare(io.Discard, options{}, report{Rows: []row{{Name: "a"}}}, []row{{Name: "b"}}); err == nil {
		t.Error("nothing in common is no error")
	}
}

// What is worse is status 1.
func TestCompareStatus(t *testing.T) {
	const name = "Decide/within-k1/classical/world=f1-1k-10-1/queues=10/workloads=1000"
	for text, want := range map[string]int{
		`{"version":1,"rows":[{"name":"` + name + `","steps":1000,"allocs_op":1000}]}`: 0,
		`{"version":1,"rows":[{"name":"` + name + `","steps":0,"allocs_op":1000}]}`:    1,
		`{"version":1,"rows":[{"name":"other","steps":0}]}`:                            2,
	} {
		if status, _, stderr := call(nil, append(two, "-compare", write(t, text))...); status != want || !strings.HasPrefix(stderr, "bench: ") {
			t.Errorf("%s: status %d, want %d: %s", text, status, want, stderr)
		}
	}
}

// A row that is measured no more is worse, if all are measured.
func TestCompareMissingRows(t *testing.T) {
	var b strings.Builder
	earlier := report{Rows: []row{{Name: "a", Steps: 1}, {Name: "b"}}}
	rows := []row{{Name: "a", Steps: 1}}
	if worse, err := compare(&b, options{}, earlier, rows); worse != 1 || err != nil || !strings.Contains(b.String(), "b: not measured any more") {
		t.Errorf("%d worse, %v: %s", worse, err, &b)
	}
	if worse, err := compare(&b, options{worlds: globs{"f1*"}}, earlier, rows); worse != 0 || err != nil {
		t.Errorf("%d worse, %v", worse, err)
	}
}

func TestReportsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                        "version 0: want 1",
		`{"version":1}`:             "it has no rows",
		`{"version":1,"rows":[{}]}`: "rows[0].name is empty",
		`{"version":1,"rows":[5]}`:  "cannot unmarshal",
		`{"version":2,"rows":[{}]}`: "version 2: want 1",
	} {
		file := write(t, text+"\n")
		if status, _, stderr := call(nil, append(two, "-compare", file)...); status != 2 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q", text, status, stderr)
		}
	}
}

// The baselines beside the code have the steps of today: those of the smallest world are counted here, all of them by .ci/run.
func TestBaseline(t *testing.T) {
	for _, mode := range []string{"classical", "fair"} {
		baseline, err := openEarlier("testdata/baseline-" + mode + ".json")
		if err != nil {
			t.Fatal(err)
		}
		steps := map[string]int{}
		for _, r := range baseline.Rows {
			steps[r.Name] = r.Steps
		}
		status, stdout, stderr := call(nil, "-o", "json", "-mode", mode, "-world", "f1-1k-10-1,t1*")
		if status != 0 {
			t.Fatal(stderr)
		}
		for _, r := range rowsOf(t, stdout) {
			if want, known := steps[r.Name]; !known || r.Steps != want {
				t.Errorf("%s: %d steps, the baseline has %d (%v): go run ./examples/bench -quick -mode %s -o steps > examples/bench/testdata/baseline-%s.json",
					r.Name, r.Steps, want, known, mode, mode)
			}
		}
	}
}
