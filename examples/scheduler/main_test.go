package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cedesched/cede/examples/internal/golden"
)

func TestSample(t *testing.T) {
	var out bytes.Buffer
	if err := run(strings.NewReader(sample), &out); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "actions", out.String())
}

func TestErrors(t *testing.T) {
	lines := strings.SplitAfter(sample, "\n")
	for bad, want := range map[string]string{
		`{"at":"2026-01-01T08:02:00Z","gone":"nobody"}`:                    `line 3: id: no workload "nobody" waits`,
		`{"at":"2026-01-01T08:02:00Z","submit":{"id":"x","queue":"none"}}`: `line 3: workload.queue: unknown queue "none" (workload "x")`,
		`nonsense`: "line 3: not JSON: byte 1",
		`{"at":"2026-01-01T08:02:00Z","submitt":{"id":"x"}}`:                  `line 3: submitt: is not a field`,
		`{"at":"2026-01-01T08:02:00Z","submit":{"id":"x","prio":1}}`:          `line 3: submit.prio: is not a field`,
		`{"at":"2026-01-01T08:02:00Z","submit":{"id":"x","priority":"high"}}`: `line 3: submit.priority: want an integer, found a string`,
		`{"at":"2026-01-01T08:02:00Z","gone":"b/train","open":{}}`:            `line 3: more than one event`,
		`{"at":"2026-01-01T08:02:00Z"} {"at":"2026-01-01T08:02:00Z"}`:         `line 3: not JSON: byte `,
		`{"gone":"b/train"}`: `line 3: at: the time of the event is missing`,
		`{"at":"noon"}`:      `line 3: `,
		`{"at":`:             `line 3: not JSON: byte 6: unexpected EOF`,
		`{"at":"2026-01-01T08:02:00Z","open":{"workload":"a/none","gate":"g"}}`:                              `line 3: workload.id: no workload "a/none" waits`,
		`{"at":"2026-01-01T08:02:00Z","gone":""}`:                                                            `line 3: gone: is empty`,
		`{"at":"2026-01-01T08:02:00Z","gone":null}`:                                                          `line 3: gone: is empty`,
		`{"at":"2026-01-01T08:02:00Z","Submit":null}`:                                                        `line 3: Submit: is not a field`,
		`{"at":"2026-01-01T08:02:00Z","shrunk":{"workload":"b/train"}}`:                                      `line 3: shrunk.replicas: is empty`,
		`{"at":"2026-01-01T08:02:00Z","submit":{"id":"x","queue":"team-a"},"submit":{"priority":7}}`:         `line 3: submit: is there twice`,
		`{"at":"2026-01-01T08:02:00Z","submit":{"id":"x","queue":"team-a"},"Submit":{"priority":7}}`:         `line 3: Submit: is not a field`,
		`{"at":"2026-01-01T08:02:00Z","submit":{"id":"x","podSets":[{},{"name":"a","count":1,"name":"b"}]}}`: `line 3: submit.podSets[1].name: is there twice`,
		`{"at":"2026-01-01T08:02:00Z","configure":{"admitted":[{"id":"x","queue":"team-a"}]}}`:               `line 3: configure.admitted: want none`,
		`{"at":"2026-01-01T08:02:00Z","configure":{"rules":[{"name":""}]}}`:                                  `line 3: `,
	} {
		text := strings.Join(append(append([]string{}, lines[:2]...), bad+"\n"), "")
		if err := run(strings.NewReader(text), new(bytes.Buffer)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A configuration is applied with its flavors and rules.
func TestConfigure(t *testing.T) {
	const submit = `{"at":"2026-01-01T08:01:00Z","submit":{"id":"low","queue":"q","podSets":[{"name":"m","count":1,"requests":[{"resource":"gpu","amount":8}]}]}}
{"at":"2026-01-01T08:02:00Z","submit":{"id":"high","queue":"q","priority":5,"podSets":[{"name":"m","count":1,"requests":[{"resource":"gpu","amount":8}]}]}}
`
	for name, c := range map[string]struct{ configure, want string }{
		"plain":   {`{"queues":[{"name":"q","quotas":[{"flavor":"f","resource":"gpu","nominal":8}]}]}`, `{"admit":"low"}`},
		"tainted": {`{"queues":[{"name":"q","quotas":[{"flavor":"f","resource":"gpu","nominal":8}]}],"flavors":[{"name":"f","nodeTaints":[{"key":"k","effect":"NoSchedule"}]}]}`, ``},
		"rules": {`{"queues":[{"name":"q","rules":"r","quotas":[{"flavor":"f","resource":"gpu","nominal":8}]}],"rules":[{"name":"r","rules":[{"name":"one","activationPolicy":{"trigger":"Always"},
			"candidateSelectors":[{"scope":"WithinClusterQueue","priority":{"mode":"Base","comparison":"LessThan"}}]}]}]}`, `"for":"high"`},
	} {
		var out bytes.Buffer
		in := `{"at":"2026-01-01T08:00:00Z","configure":` + strings.ReplaceAll(c.configure, "\n", "") + "}\n" + submit
		if err := run(strings.NewReader(in), &out); err != nil || !strings.Contains(out.String(), c.want) || c.want == "" && out.Len() > 0 {
			t.Errorf("%s: %v, %q, want %q", name, err, out.String(), c.want)
		}
	}
}

// A long line is refused, and an error names no value at length.
func TestLongLines(t *testing.T) {
	for in, want := range map[string]string{
		`{"at":"2026-01-01T08:02:00Z","gone":"` + strings.Repeat("é", maxLine) + `"}`: "line 1: more than 8 MiB in one line: a configuration may come in several",
		`{"at":"2026-01-01T08:02:00Z","gone":"` + strings.Repeat("é", 100_000) + `"}`: `line 1: id: no workload "é`,
		`{"at":"2026-01-01T08:02:00Z","` + strings.Repeat("x", 100_000) + `":5}`:      "line 1: xxx",
	} {
		var stdout, stderr bytes.Buffer
		if status := command(nil, strings.NewReader(in), &stdout, &stderr); status != 2 || !strings.Contains(stderr.String(), want) || stderr.Len() > 5000 || !utf8.Valid(stderr.Bytes()) {
			t.Errorf("status %d, %d bytes: %.300s", status, stderr.Len(), stderr.String())
		}
	}
}

// Blank lines, a byte-order mark and lines of any sensible length are read.
func TestLines(t *testing.T) {
	var want bytes.Buffer
	if err := run(strings.NewReader(sample), &want); err != nil {
		t.Fatal(err)
	}
	long := strings.Replace(sample, `{"at"`, strings.Repeat(" ", 200_000)+`{"at"`, 3)
	var got bytes.Buffer
	if err := run(strings.NewReader("\ufeff\n"+strings.ReplaceAll(long, "\n", "\r\n \n")), &got); err != nil || got.String() != want.String() {
		t.Errorf("%v: %s", err, got.String())
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		args         []string
		in           string
		status       int
		stdout, line string
	}{
		{[]string{"--help"}, "", 0, "usage: scheduler", ""},
		{[]string{"-h"}, "", 0, "usage: scheduler", ""},
		{[]string{"x\x1b"}, "", 2, "", "want no arguments"},
		{nil, "", 2, "", "there are no events in the input"},
		{nil, "\n", 2, "", "there are no events in the input"},
		{nil, "[5]\n", 2, "", "line 1: want an object, found a list"},
		{nil, "{\"at\":\"soon\"}\n", 2, "", "line 1: at: \"soon\" is not a time"},
		{nil, "{\"at\":\"2026-01-01T08:02:00Z\",\"gone\":\"a\\u001b\\nb\\u202e\"}", 2, "", "line 1: id: no workload"},
	} {
		var stdout, stderr bytes.Buffer
		status := command(c.args, strings.NewReader(c.in), &stdout, &stderr)
		if status != c.status || !strings.HasPrefix(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.line) ||
			(status == 2) != (strings.Count(stderr.String(), "\n") == 1) || strings.ContainsAny(stderr.String(), "\x1b\u202e") {
			t.Errorf("%q: status %d, %q, %q", c.args, status, stdout.String(), stderr.String())
		}
	}
	for _, name := range []string{`\u202e`, `\u0085`, `\ue000`, `\udb40\udc01`} {
		var stdout, stderr bytes.Buffer
		in := `{"at":"2026-01-01T08:00:00Z","configure":{"queues":[{"name":"q","quotas":[{"flavor":"f","resource":"gpu","nominal":8}]}]}}
{"at":"2026-01-01T08:01:00Z","submit":{"id":"a` + name + `","queue":"q","podSets":[{"name":"m","count":1,"requests":[{"resource":"gpu","amount":4}]}]}}`
		if status := command(nil, strings.NewReader(in), &stdout, &stderr); status != 0 || !strings.Contains(stdout.String(), `"a`+name+`"`) {
			t.Errorf("%s: status %d, %q, %q", name, status, stdout.String(), stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	if status := command(nil, nil, &stdout, &stderr); status != 0 || stdout.Len() == 0 {
		t.Errorf("the sample: status %d, %q", status, stderr.String())
	}
}

// consumer is a program around scheduler.go.
const consumer = `package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/cedesched/cede/preemption/cycle"
)

func main() {
	s, err := New(cycle.Config{})
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for err == nil {
		var e Event
		if err = in.Decode(&e); err == nil {
			var actions []Action
			actions, err = s.Handle(e)
			for _, a := range actions {
				_ = out.Encode(a)
			}
		}
	}
	if err != io.EOF {
		panic(err)
	}
}
`

// Another module that requires cede builds and runs, with nothing but cede in it.
func TestConsumerModule(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string][]byte{"go.mod": []byte("module example.com/consumer\n\ngo 1.26\n\nrequire github.com/cedesched/cede v0.0.0\n\n" +
		"replace github.com/cedesched/cede => " + root + "\n")}
	files["main.go"] = []byte(consumer)
	if files["scheduler.go"], err = os.ReadFile("scheduler.go"); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "run", ".")
	run.Dir, run.Stdin = dir, strings.NewReader(sample)
	run.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if want, _ := os.ReadFile("testdata/actions.golden"); err != nil || string(out) != string(want) {
		t.Errorf("%v: %s\n%s", err, stderr.String(), out)
	}
}
