package main

import (
	"strings"
	"testing"
)

// onNodes is a case about nodes that passes: a pod of higher priority takes the one slot.
const onNodes = `{"id":"n","suite":"group","nodes":[{"name":"a","capacity":{"slots":1}},{"name":"b","capacity":{"slots":1}}],
"pods":[{"name":"mid","node":"a","priority":5,"requests":{"slots":1}},{"name":"low","node":"b","priority":1,"requests":{"slots":1}}],
"preemptor":{"kind":"group","name":"in","priority":9,"policy":"LowerPriority","min_count":1,"pods":[{"name":"p","requests":{"slots":1}}]},
"options":{"mode":"seed"},"expect":{"outcome":"preempt","victims":["low"],"pdb_violations":0}}`

func nodesLine(replacements ...string) string {
	return strings.NewReplacer(append([]string{"\n", ""}, replacements...)...).Replace(onNodes) + "\n"
}

// Every kind of answer about nodes is compared, in the mode that is asked for.
func TestDifferencesOnNodesAreSeen(t *testing.T) {
	if status, stdout, _ := call(nodesLine() + nodesLine(`"seed"`, `"in_place"`, `["low"]`, `["mid"]`)); status != 0 {
		t.Errorf("status %d: %s", status, stdout)
	}
	for name, c := range map[string]struct {
		replace []string
		want    string
	}{
		"victims":     {[]string{`["low"]`, `["mid"]`}, "- mid"},
		"mode":        {[]string{`"seed"`, `"in_place"`}, "+ mid"},
		"outcome":     {[]string{`"outcome":"preempt"`, `"outcome":"unschedulable"`}, "- Impossible"},
		"violations":  {[]string{`"pdb_violations":0`, `"pdb_violations":1`}, "- 1"},
		"one of":      {[]string{`"victims":["low"]`, `"victim_count":1,"victims_one_of":["mid","x"]`}, "number of victims"},
		"eligible":    {[]string{`"outcome":"preempt"`, `"eligible":false`}, "- false"},
		"node":        {[]string{`"outcome":"preempt"`, `"outcome":"preempt","node":"a"`}, "- a"},
		"node any of": {[]string{`"outcome":"preempt"`, `"outcome":"preempt","node_any_of":["a"]`}, "node, one of"},
		"candidates":  {[]string{`"outcome":"preempt"`, `"outcome":"preempt","candidates":[]`}, "candidates"},
		"not a case":  {[]string{`"node":"a"`, `"node":"x"`}, `cannot be asked: case "n": pods[0].node: unknown node "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, _ := call(nodesLine(c.replace...))
			if status != 1 || !strings.Contains(stdout, c.want) {
				t.Errorf("status %d, without %q:\n%s", status, c.want, stdout)
			}
		})
	}
}

// The departures on nodes are predicates: the same wrong answer departs with it and fails
// without.
func TestDeparturesOnNodes(t *testing.T) {
	wrong := []string{`["low"]`, `["low","mid"]`}
	if status, stdout, _ := call(nodesLine(append(wrong, `"mode":"seed"`, `"mode":"seed","max_reprieves":0`)...)); status != 0 || !strings.Contains(stdout, "1 departed") {
		t.Errorf("status %d: %s", status, stdout)
	}
	const alike = `{"id":"i","suite":"importance","a":{"kind":"pod","size":1,"priority":1},"b":{"kind":"pod","size":1,"priority":1},"expect":{"a_more_important":false}}`
	if status, stdout, _ := call(alike); status != 0 || !strings.Contains(stdout, "1 departed") {
		t.Errorf("status %d: %s", status, stdout)
	}
	if status, _, _ := call(strings.Replace(alike, `"priority":1`, `"priority":2`, 1)); status != 1 {
		t.Errorf("status %d for a unit that is more important", status)
	}
}

func TestUnreadableOnNodes(t *testing.T) {
	for want, line := range map[string]string{
		`unknown suite "x"`: nodesLine(`"suite":"group"`, `"suite":"x"`),
		`unknown mode "x"`:  nodesLine(`"mode":"seed"`, `"mode":"x"`),
		"no preemptor":      `{"id":"n","suite":"pod"}`,
		"a or b is missing": `{"id":"n","suite":"importance"}`,
		"it has no id":      `{"suite":"pod"}`,
		"cannot unmarshal":  `{"id":"n","suite":"pod","expect":[]}`,
		"want 2 pods":       nodesLine(`"options"`, `"conflicts":[["p"]],"options"`),
	} {
		if status, _, stderr := call(line); status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("status %d, %q, want %q", status, stderr, want)
		}
	}
}
