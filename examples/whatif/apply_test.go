package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is given with -apply is applied, or the comparison is not made.
func TestApply(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const fair = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
	limit := func(spec string) string {
		return "apiVersion: kueue.x-k8s.io/v1alpha1\nkind: PreemptionLimit\nmetadata: {name: few}\nspec: {" + spec + "}\n"
	}
	const because = "decided by fair sharing because of the Configuration; -fair=false decides without it"
	small := write("small.json", smallCluster)
	on := write("on.yaml", fair+"fairSharing: {}\n")
	for name, c := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"sharing on":   {[]string{"-f", small, "-apply", on}, 0, "Note: after the change: " + because + "."},
		"sharing off":  {[]string{"-f", small, "-f", on, "-apply", write("off.yaml", fair)}, 0, "Note: " + because + "."},
		"window":       {[]string{"-f", small, "-apply", write("window.yaml", limit("scope: Global, limit: 1, window: 0s"))}, 2, "(PreemptionLimit few): spec.window: 0s is shorter than 1s"},
		"two faults":   {[]string{"-f", small, "-apply", write("two.yaml", limit("scope: Global, limit: -1"))}, 2, "(PreemptionLimit few): spec.limit: -1 is negative (and 1 more fault)"},
		"unknown":      {[]string{"-f", small, "-apply", write("unknown.yaml", limit("scope: Global, limit: 1, window: 1h, burst: 2"))}, 2, "whatif: -apply: PreemptionLimit few: spec.burst is not known here, and without it the limit may cover more"},
		"no more left": {[]string{"-f", small, "-f", write("left.yaml", limit("scope: Moon")), "-apply", on}, 3, "Note: after the change: " + because + "."},
	} {
		status, stdout, stderr := call(nil, append([]string{"diff", "-at", now}, c.args...)...)
		got := strings.Join(strings.Fields(stdout), " ")
		right := strings.Contains(got, c.want)
		if c.status == 2 {
			got = stderr
			right = strings.HasPrefix(got, "whatif: -apply: ") && strings.HasSuffix(got, c.want+"\n") && stdout == ""
		}
		if status != c.status || !right {
			t.Errorf("%s: status %d, %q, want %q", name, status, got, c.want)
		}
		if name == "sharing off" && strings.Contains(got, "after the change") {
			t.Errorf("still fair: %q", got)
		}
	}
}

// A limit that was left out is not why a queue is missing.
func TestWhyAQueueIsMissing(t *testing.T) {
	for _, args := range [][]string{{"next", "-queue", "none"}, {"ask", "-request", "cpu=1", "-queue", "none"}} {
		status, _, stderr := call(nil, append(args, "-f", rulesFile, "-at", now)...)
		if status != 2 || stderr != "whatif: queue \"none\" is not in the input; the nearest: lab, prod\n" {
			t.Errorf("%q: status %d, %q", args, status, stderr)
		}
	}
}

// The rules that the documentation tries on the sample change an answer there.
func TestRulesForTheSample(t *testing.T) {
	status, stdout, stderr := call(nil, "diff", "-apply", "hero.yaml", "-rules", "recsys=hero")
	if status != 1 || stderr != "" || !strings.Contains(stdout, "1 answer changes: 1 better") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}
