package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/golden"
)

const corpusFile = "../../preemption/recorded/testdata/random-classical.jsonl.gz"

func call(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &err)
	return status, out.String(), err.String()
}

// one is a case that passes: a queue of 2 in which a workload of 2 runs, and one of 1
// of higher priority comes.
const one = `{"id":"one","mode":"classical","now":"2026-01-01T00:00:00Z",
"clusterQueues":[{"name":"q","quotas":[{"flavor":"f","resource":"r","nominal":2}],"preemption":{"withinClusterQueue":"LowerPriority"}}],
"admitted":[{"name":"ns/low","clusterQueue":"q","usage":[{"flavor":"f","resource":"r","amount":2}]}],
"incoming":{"name":"ns/in","clusterQueue":"q","priority":1,"requests":[{"flavor":"f","resource":"r","amount":1,"mode":"Preempt"}]},
"want":{"victims":[{"name":"ns/low","reason":"InClusterQueue"}],
"quota":{"clusterQueues":[{"name":"q","flavor":"f","resource":"r","usage":2,"available":0,"potentialAvailable":2,"subtreeQuota":2}]},
"oracle":[{"flavor":"f","resource":"r","amount":1,"possibility":"Preempt","borrowHeight":0}]}}`

func line(replacements ...string) string {
	return strings.NewReplacer(append([]string{"\n", ""}, replacements...)...).Replace(one) + "\n"
}

func TestCorpus(t *testing.T) {
	status, stdout, stderr := call("", corpusFile)
	want := corpusFile + ": 888 passed, 0 failed, 112 departed\n  departed 86: the request already fits\n  departed 29: what is leaving already is enough\n"
	if status != 0 || stdout != want || stderr != "" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

// The help of the program, and of its verbs with flags, fits a screen and has examples.
func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"run", "-h"}, {"cases", "-h"}} {
		status, stdout, stderr := call("", args...)
		if status != 0 || stderr != "" || !strings.HasPrefix(stdout, "usage: conformance") {
			t.Errorf("%q: status %d, %q", args, status, stderr)
		}
		golden.Help(t, stdout)
	}
}

// A case that is converted says the same.
func TestConvert(t *testing.T) {
	status, converted, stderr := call(line()+line(`"borrowHeight":0`, `"borrowHeight":1`), "-convert")
	if status != 0 || stderr != "" || !strings.HasPrefix(converted, `{"id":"one","quota":[{"state":{`) {
		t.Fatalf("status %d, %q, %q", status, converted, stderr)
	}
	if status, stdout, _ := call(converted); status != 1 || !strings.Contains(stdout, "(standard input): 1 passed, 1 failed, 0 departed\n") {
		t.Errorf("status %d: %s", status, stdout)
	}
}

// Every kind of answer is compared: one that is changed fails, with a diff.
func TestDifferencesAreSeen(t *testing.T) {
	for name, c := range map[string]struct {
		replace []string
		want    string
	}{
		"victims":    {[]string{`[{"name":"ns/low","reason":"InClusterQueue"}]`, "[]"}, "+ ns/low InClusterQueue"},
		"reason":     {[]string{`"reason":"InClusterQueue"`, `"reason":"InCohortReclamation"`}, "- ns/low InCohortReclamation"},
		"quota":      {[]string{`"potentialAvailable":2`, `"potentialAvailable":3`}, "- usage 2, available 0, potential 3, subtree 2"},
		"oracle":     {[]string{`"possibility":"Preempt"`, `"possibility":"Reclaim"`}, "- Reclaim, borrow height 0"},
		"height":     {[]string{`"borrowHeight":0`, `"borrowHeight":1`}, "+ Preempt, borrow height 0"},
		"not a case": {[]string{`"name":"ns/low","clusterQueue":"q"`, `"name":"ns/low","clusterQueue":"x"`}, `cannot be asked: case "one": admitted[0].queue: unknown queue "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, _ := call(line() + line(c.replace...))
			if status != 1 || !strings.Contains(stdout, c.want) || !strings.Contains(stdout, "(standard input): 1 passed, 1 failed, 0 departed\n") {
				t.Errorf("status %d, without %q:\n%s", status, c.want, stdout)
			}
		})
	}
}

// A departure is a predicate on the case: the same wrong victim departs when the
// request fits already, and fails when it does not.
func TestDepartureIsAPredicate(t *testing.T) {
	fits := line(`"nominal":2`, `"nominal":9`, `"available":0,"potentialAvailable":2,"subtreeQuota":2`, `"available":7,"potentialAvailable":9,"subtreeQuota":9`)
	status, stdout, _ := call(fits)
	if status != 0 || !strings.Contains(stdout, "0 passed, 0 failed, 1 departed") {
		t.Errorf("status %d: %s", status, stdout)
	}
}

func TestJSON(t *testing.T) {
	status, stdout, _ := call(line()+line(`"borrowHeight":0`, `"borrowHeight":1`), "-json")
	var r report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 1 || r.Passed != 1 || r.Failed != 1 ||
		len(r.Failures) != 1 || r.Failures[0].Line != 2 || len(r.Failures[0].Differences) != 1 {
		t.Errorf("status %d, %v: %s", status, err, stdout)
	}
}

func TestShow(t *testing.T) {
	wrong := line(`"borrowHeight":0`, `"borrowHeight":1`)
	_, stdout, _ := call(wrong+wrong+wrong, "-show", "1")
	if strings.Count(stdout, "FAIL") != 1 || !strings.Contains(stdout, "and 2 more failed cases") {
		t.Error(stdout)
	}
}

// Input that cannot be read is status 2 and one line with file and line.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.jsonl")
	if err := os.WriteFile(plain, []byte(line()+"\n{]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"not JSON":      {line() + "hello\n", nil, "(standard input):2: invalid character"},
		"in a file":     {"", []string{plain}, plain + ":3: invalid character"},
		"empty":         {"\n\n", nil, "it has no case"},
		"no case":       {"{}\n", nil, "(standard input):1: no case: it has no id"},
		"unknown kind":  {line() + `{"id":"w","kind":"replay"}` + "\n", nil, `(standard input):2: case "w": unknown kind "replay"`},
		"unknown gate":  {`{"id":"w","kind":"other-ungate","now":"2026-01-01T12:00:00Z","timeoutSeconds":300}` + "\n", nil, `(standard input):1: case "w": unknown kind "other-ungate"`},
		"unknown field": {`{"id":"w","quota":[{"stat":{}}]}` + "\n", nil, `(standard input):1: json: unknown field "stat"`},
		"no question":   {`{"id":"w"}` + "\n", nil, `(standard input):1: case "w": it has no question`},
		"unknown mode":  {line(`"mode":"Preempt"`, `"mode":"Maybe"`), nil, `unknown mode "Maybe"`},
		"wrong type":    {line(`"priority":1`, `"priority":"high"`), nil, `(standard input):1: case "one": json`},
		"policy":        {line(`"LowerPriority"`, `"Sometimes"`), nil, `(standard input):1: case "one": "Sometimes" is unknown: want Never, LowerPriority`},
		"no file":       {"", []string{filepath.Join(dir, "none")}, "no such file"},
		"bad gzip":      {"\x1f\x8bnot gzip", nil, "gzip"},
		"bad flag":      {"", []string{"-x"}, "usage: conformance"},
		"a directory":   {"", []string{dir}, "is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := call(c.stdin, c.args...)
			if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("status %d, stdout %q, stderr %q, want %q", status, stdout, stderr, c.want)
			}
		})
	}
}

// told is a case of a kind that is documented as not asked.
const told = `{"id":"told","kind":"integration","steps":[]}` + "\n"

// Stories in words are counted by themselves: neither passed nor failed.
func TestStoriesAreCountedApart(t *testing.T) {
	status, stdout, _ := call(line() + told)
	if want := "(standard input): 1 passed, 0 failed, 0 departed\n  not asked 1: it is about no decision (integration)\n"; status != 0 || stdout != want {
		t.Errorf("status %d, %q", status, stdout)
	}
}

// A file of which nothing was asked is no success: status 2, and one line that says why.
func TestAFileOfWhichNothingWasAsked(t *testing.T) {
	status, stdout, stderr := call(told + told)
	want := "conformance: (standard input): nothing was asked: 2 of 2 cases: it is about no decision (integration)\n"
	if status != 2 || stdout != "" || stderr != want {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}

func TestGates(t *testing.T) {
	status, stdout, _ := call("", "../../preemption/recorded/testdata/gates-oracle-mk.jsonl.gz")
	if status != 0 || !strings.Contains(stdout, "85 passed, 0 failed, 65 departed\n") {
		t.Errorf("status %d, %q", status, stdout)
	}
	wrong := `{"id":"w","kind":"multikueue-ungate","now":"2026-01-01T12:00:00Z","timeoutSeconds":300,"replicas":[` +
		`{"name":"a","gate":{"inSpec":true},"blocked":{"status":"True","lastTransitionTime":"2026-01-01T11:00:00Z"}}],"want":{"ungate":"b"}}`
	if status, stdout, _ := call(wrong); status != 1 || !strings.Contains(stdout, `+ open "a" (opened true), look again after 300s`) {
		t.Errorf("status %d, %q", status, stdout)
	}
}
