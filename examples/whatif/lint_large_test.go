package main

import (
	"strings"
	"testing"
)

// lint tells of what never fits: a finding for each queue and reason, with a number and names.
func TestLintTellsOfWhatNeverFits(t *testing.T) {
	const (
		quotaOf = `queue "cq": 1 workload asks for more than the queue can ever have, with all that it may borrow: a/w0.`
		nodesOf = `queue "cq": 4 workloads have pods that no node of a flavor of the queue takes now: a/w0, a/w1, a/w2 and 1 more.`
		example = `Example: a/w0: a pod of main asks for 9 cpu, and no node of f that there is now has more than 8.`
	)
	for name, c := range map[string]struct {
		input string
		want  []string
	}{
		"more than the quota":     {onHardware(8, nil, 10), []string{quotaOf, "Example: a/w0: it asks for 20 cpu, and the queue can have 8 of f."}},
		"as much as the quota":    {onHardware(8, nil, 4), nil},
		"pods larger than nodes":  {onHardware(100, []int{4, 8}, 9, 9, 10, 9), []string{nodesOf, example}},
		"nodes of another flavor": {strings.ReplaceAll(onHardware(100, []int{4, 8}, 9), `"labels":{"kind":"large"}`, `"labels":{"kind":"small"}`), nil},
		"pods as large as nodes":  {onHardware(100, []int{4, 9}, 9), nil},
		"fewer would do":          {strings.Replace(onHardware(8, nil, 5), `"count":2`, `"count":2,"minCount":1`, 1), nil},
	} {
		_, out, said := call(strings.NewReader(c.input), "lint", "-rule", "too-large")
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: want %s:\n%s%s", name, want, out, said)
			}
		}
		if n := strings.Count(out, "queue \"cq\""); (n > 0) != (c.want != nil) || n > 1 || said != "" {
			t.Errorf("%s: %s%s", name, out, said)
		}
	}
}
