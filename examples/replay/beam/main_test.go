package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/replay/internal/sweep"
)

// TestMain makes the test the program, for tests that need a process of it.
func TestMain(m *testing.M) {
	if os.Getenv("REPLAY_ON_BEAM") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is a process of the program.
func program(t *testing.T, args ...string) (process *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	process = exec.CommandContext(t.Context(), os.Args[0], args...)
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	process.Env, process.Stdout, process.Stderr = append(os.Environ(), "REPLAY_ON_BEAM=1"), stdout, stderr
	return process, stdout, stderr
}

// finish runs a sweep to its end, and returns the results, and how many cells were replayed and known.
func finish(t *testing.T, directory string, args ...string) (results string, replayed, known int) {
	t.Helper()
	process, stdout, stderr := program(t, append(args, "-dir", directory)...)
	if err := process.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	said := regexp.MustCompile(`: (\d+) replayed, (\d+) known before`).FindStringSubmatch(stdout.String())
	data, err := os.ReadFile(filepath.Join(directory, "results.jsonl"))
	if err != nil || said == nil {
		t.Fatal(err, stdout)
	}
	replayed, _ = strconv.Atoi(said[1])
	known, _ = strconv.Atoi(said[2])
	return string(data), replayed, known
}

// The worker is killed in mid-sweep. The same command goes on: the results are those of a sweep in one piece, and no cell is
// replayed again of which the result was there.
func TestKilled(t *testing.T) {
	args := []string{"-world", "philly-vc+days=4+capacity=50", "-policy", "greedy,best+checkpoint", "-seeds", "1-4"}
	want, replayed, known := finish(t, t.TempDir(), args...)
	if replayed != 8 || known != 0 || strings.Count(want, "\n") != 8 {
		t.Fatalf("in one piece: %d cells replayed, %d known:\n%s", replayed, known, want)
	}
	directory := t.TempDir()
	process, _, stderr := program(t, append(args, "-dir", directory)...)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	done := func() (files []string) {
		files, _ = filepath.Glob(filepath.Join(directory, "*.jsonl"))
		return files
	}
	for wait := time.Now(); len(done()) < 2; time.Sleep(time.Millisecond) {
		if time.Since(wait) > 5*time.Minute {
			t.Fatalf("no results: %s", stderr)
		}
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // it was killed
	there := len(done())
	got, replayed, known := finish(t, directory, args...)
	if got != want {
		t.Errorf("after the kill:\n%s\nin one piece:\n%s", got, want)
	}
	if known != there || replayed != 8-there || replayed == 0 {
		t.Errorf("%d results were there, then %d cells replayed, %d known", there, replayed, known)
	}
}

// A cell in which jobs circle for ever is marked, and the others are replayed. Its results have a table.
func TestCircle(t *testing.T) {
	directory := t.TempDir()
	finish(t, directory, "-world", "philly-vc+days=1+capacity=40+grace=0s", "-policy", "greedy,fair")
	lines, err := sweep.ReadLines(filepath.Join(directory, "results.jsonl"))
	if err != nil || len(lines) != 2 || lines[0].Circle != "" || lines[1].Circle == "" || lines[0].Finished == 0 {
		t.Errorf("%v, %+v", err, lines)
	}
}

// A result that another sweep left, or half of one, is not taken.
func TestStrangeFiles(t *testing.T) {
	args := []string{"-world", "openb+days=1+capacity=50", "-policy", "greedy,best"}
	directory := t.TempDir()
	want, _, _ := finish(t, directory, args...)
	files, _ := filepath.Glob(filepath.Join(directory, "*.jsonl"))
	for i, file := range files[:2] {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			data = data[:len(data)/2]
		} else {
			data = bytes.Replace(data, []byte(`"id":"`), []byte(`"id":"x`), 1)
		}
		if err := writeFile(context.Background(), file, data); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, _ := finish(t, directory, args...); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"beam: -dir: name a directory":        {},
		`beam: unexpected argument "x"`:       {"-dir", t.TempDir(), "x"},
		`beam: -seeds "0": want numbers`:      {"-dir", t.TempDir(), "-seeds", "0"},
		`beam: world "nosuch": unknown`:       {"-dir", t.TempDir(), "-world", "nosuch"},
		`beam: policy "worst": unknown word`:  {"-dir", t.TempDir(), "-policy", "worst"},
		`beam: world "none.csv": unknown`:     {"-dir", t.TempDir(), "-world", "none.csv"},
		`flag provided but not defined: -bad`: {"-bad"},
	} {
		process, stdout, stderr := program(t, args...)
		err := process.Run()
		if process.ProcessState.ExitCode() != 2 || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), want) || want[0] == 'b' && strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%q: %v, status %d: %s%s", want, err, process.ProcessState.ExitCode(), stdout, stderr)
		}
	}
}
