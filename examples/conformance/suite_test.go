package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/conformance/suite"
)

// With this variable the test binary is the program itself.
const asProgram = "CEDE_CONFORMANCE"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func calls(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(args, strings.NewReader(""), &out, &err)
	return status, out.String(), err.String()
}

func claimsFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "claims.json")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// cede's own answerer passes what it is asked. (Package suite asks all; here it is one form over the pipe.)
func TestRunAsksCede(t *testing.T) {
	t.Setenv(asProgram, "1")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := calls("run", "-json", "-claims", claimsFile(t, `{"forms":["place","orchestrate"]}`), "--", program, "answer")
	var r suite.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 0 || r.Failed > 0 || r.Passed < 200 || r.Forms["decide"].Passed > 0 {
		t.Errorf("status %d, %q, %v: %s", status, stderr, err, stdout)
	}
}

func TestVerbs(t *testing.T) {
	if status, stdout, _ := calls("claims"); status != 0 || !strings.Contains(stdout, "  borrowWithinCohort ") || !strings.Contains(stdout, "  retryAt\n") {
		t.Errorf("status %d: %s", status, stdout)
	}
	if status, stdout, _ := calls("cases", "-form", "orchestrate"); status != 0 || strings.Count(stdout, "\n") < 50 || strings.Count(stdout, `"form":"orchestrate"`) != strings.Count(stdout, "\n") {
		t.Errorf("status %d: %.300s", status, stdout)
	}
	var out, err bytes.Buffer
	question := `{"id":"x","form":"orchestrate","question":{"now":"2026-01-01T12:00:00Z","replicas":[]}}` + "\n" + `{"id":"y","form":"other","question":{}}` + "\n"
	status := run([]string{"answer"}, strings.NewReader(question), &out, &err)
	if lines := strings.Split(out.String(), "\n"); status != 0 || len(lines) != 3 || !strings.HasPrefix(lines[0], `{"id":"x","answer":`) || lines[1] != `{"id":"y","error":"unknown form \"other\""}` {
		t.Errorf("status %d: %s%s", status, &out, &err)
	}
	if status := run([]string{"answer"}, strings.NewReader("oops\n"), &out, &err); status != 2 || !strings.Contains(err.String(), "(standard input):1: ") {
		t.Errorf("status %d: %s", status, &err)
	}
}

func TestVerbsRefuse(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no program", []string{"run"}},
		{"want zero or more", []string{"run", "-each", "-1s", "--", "true"}},
		{"nonexistent.json", []string{"run", "-claims", "nonexistent.json", "--", "true"}},
		{`forms[0]: "x" is unknown`, []string{"run", "-claims", claimsFile(t, `{"forms":["x"]}`), "--", "true"}},
		{"nothing was asked", []string{"run", "-claims", claimsFile(t, `{"forms":["place"],"features":["fair"]}`), "--", "cat"}},
		{"executable file not found", []string{"run", "--", "nonexistent-program"}},
		{`-form "x"`, []string{"cases", "-form", "x"}},
		{"unexpected argument", []string{"claims", "x"}},
		{"unexpected argument", []string{"answer", "x"}},
	} {
		if status, _, stderr := calls(c.args...); status != 2 || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %q", c.args, status, stderr, c.want)
		}
	}
}
