package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// asProgram makes the program of the tests the program itself: it is built already.
const asProgram = "WHATIF_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// Installed under the name of a plugin the program works as kubectl runs it: answers, --version, a suggestion, completion of
// verbs and of names in the cluster by kubectl_complete-cede; exit statuses are those of the documentation.
func TestInstalledAsPlugin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake kubectl is a shell script")
	}
	fakeCluster(t, smallCluster)
	program := must(os.Executable())(t)
	dir := t.TempDir()
	for _, name := range []string{"kubectl-cede", "whatif"} {
		if err := os.Symlink(program, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("kubectl", "#!/bin/sh\n[ \"$1\" = cede ] && shift && exec kubectl-cede \"$@\"\n")
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv(asProgram, "1")
	call := func(command string, args ...string) (status int, out string) {
		t.Helper()
		text, err := exec.Command(command, args...).CombinedOutput()
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			return ended.ExitCode(), string(text)
		} else if err != nil {
			t.Fatal(err)
		}
		return 0, string(text)
	}
	_, script := call("kubectl", "cede", "completion", "kubectl")
	write("kubectl_complete-cede", script)
	for _, c := range []struct {
		status  int
		want    string
		command []string
	}{
		{0, "1 workload waits.", []string{"kubectl", "cede"}},
		{0, "a/next fits once a/runs yields", []string{"kubectl", "cede", "why", "a/next"}},
		{0, "a/next fits once a/runs yields", []string{"kubectl", "cede", "why", "workload/next", "-n", "a", "--as", "jane"}},
		{0, "kubectl cede ", []string{"kubectl", "cede", "--version"}},
		{2, "did you mean overview?", []string{"kubectl", "cede", "overveiw"}},
		{2, "did you mean -workload?", []string{"kubectl", "cede", "-wokload", "x"}},
		{2, "the nearest: a/next", []string{"kubectl", "cede", "-workload", "a/nxt"}},
		{0, "overview\t", []string{"kubectl_complete-cede", "over"}},
		{0, "a/next\n", []string{"kubectl_complete-cede", "ask", "--workload", "a/"}},
		{0, "vision\n", []string{"kubectl_complete-cede", "overview", "--queue", ""}},
		{0, "__start_kubectl-cede", []string{"kubectl-cede", "completion", "bash"}},
		{0, "a/next fits", []string{"whatif", "ask", "-live"}},
		{1, "recsys/two-tower-xl does not fit", []string{"whatif", "-sample", "cluster", "-workload", "recsys/two-tower-xl"}},
		{2, "no such file", []string{"whatif", "-f", "none.json"}},
	} {
		if status, out := call(c.command[0], c.command[1:]...); status != c.status || !strings.Contains(out, c.want) {
			t.Errorf("%q: status %d, want %d with %q:\n%s", c.command, status, c.status, c.want, out)
		}
	}
}
