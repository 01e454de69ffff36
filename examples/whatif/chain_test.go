package main

import (
	"fmt"
	"strings"
	"testing"
)

// A chain of 10,000 cohorts is told in a page: its root, those near the queue, and how many
// more there are.
func TestLongChainOfCohorts(t *testing.T) {
	const n = 10_000
	var b strings.Builder
	b.WriteString(`{"cohorts":[`)
	for i := range n {
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf(`,"parent":"c%d"`, i-1)
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"c%d"%s}`, i, parent)
	}
	fmt.Fprintf(&b, `],"queues":[{"name":"a","cohort":"c%d","quotas":[{"flavor":"f","resource":"cpu","nominal":4000}]}]}`, n-1)
	status, stdout, stderr := call(strings.NewReader(b.String()), "-request", "cpu=2", "-queue", "a")
	if status != 0 || stderr != "" || strings.Count(stdout, "\n") > 30 || len(stdout) > 4000 || !strings.HasPrefix(stdout, "new fits now") ||
		!strings.Contains(stdout, "\nc0 (cohort) ") || !strings.Contains(stdout, "\n  …/c9990 (cohort) ") || !strings.Contains(stdout, "... and 9989 more cohorts; -tree shows them.\n") {
		t.Errorf("status %d, %s%.3000s", status, stderr, stdout)
	}
}
