package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden file")

const golden = "testdata/actions.golden"

func TestSample(t *testing.T) {
	var out bytes.Buffer
	if err := run(strings.NewReader(sample), &out); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || out.String() != string(want) {
		t.Errorf("%v, not as %s (-update rewrites it):\n%s", err, golden, out.String())
	}
}

func TestErrors(t *testing.T) {
	lines := strings.SplitAfter(sample, "\n")
	for bad, want := range map[string]string{
		`{"at":"2026-01-01T08:02:00Z","gone":"nobody"}`:                    `line 3: id: no workload "nobody" waits`,
		`{"at":"2026-01-01T08:02:00Z","submit":{"id":"x","queue":"none"}}`: `line 3: workload.queue: unknown queue "none" (workload "x")`,
		`nonsense`: "line 3: invalid character",
	} {
		text := strings.Join(append(append([]string{}, lines[:2]...), bad+"\n"), "")
		if err := run(strings.NewReader(text), new(bytes.Buffer)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Another module that requires cede builds and runs, with nothing but cede in it.
func TestConsumerModule(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string][]byte{"go.mod": []byte("module example.com/consumer\n\ngo 1.26\n\nrequire github.com/cedesched/cede v0.0.0\n\n" +
		"replace github.com/cedesched/cede => " + root + "\n")}
	for _, name := range []string{"main.go", "scheduler.go", "events.jsonl"} {
		if files[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
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
	if want, _ := os.ReadFile(golden); err != nil || string(out) != string(want) {
		t.Errorf("%v: %s\n%s", err, stderr.String(), out)
	}
}
