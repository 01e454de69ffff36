package main

import (
	"strings"
	"testing"
)

// What an operator asks first is one command each on a live cluster, and the first line is the answer with its reason.
func TestFirstMinute(t *testing.T) {
	fakeCluster(t, string(theSample())+drainNodes)
	for _, c := range []struct {
		question, command string
		status            int
		begins, has       string
	}{
		{"which of mine wait?", "overview -n recsys", 1, "1 workload waits in namespace recsys.", "no: 8 gpu missing in cohort acme"},
		{"why does this one?", "why recsys/two-tower-xl", 1, "recsys/two-tower-xl does not fit until something changes: 8 gpu missing in cohort acme", ""},
		{"what must I raise?", "why two-tower-xl -n recsys", 1, "recsys/two-tower-xl does not fit", "What would change the answer\n  "},
		{"who loses if I do?", "diff -priority recsys/two-tower-xl=1000", 1, "1 answer changes: 1 better, 0 worse", "preempts recsys/two-tower-retrain"},
		{"who has to leave if I lower a quota?", "settle -quota recsys:h100:nvidia.com/gpu=8", 1, "To leave: recsys/ltv-batch.", ""},
		{"is this node safe to drain?", "drain n1", 0, "n1 is safe to drain", ""},
	} {
		var out, bad strings.Builder
		std := stdio{out: &out, err: &bad, name: "kubectl cede", plugin: true, clock: noon}
		if status := run(strings.Fields(c.command), std); status != c.status || !strings.HasPrefix(out.String(), c.begins) || !strings.Contains(out.String(), c.has) {
			t.Errorf("%s %s: status %d, %s:\n%s", c.question, c.command, status, &bad, &out)
		}
	}
}
