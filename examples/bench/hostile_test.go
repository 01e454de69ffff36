package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// grows are the states whose decisions may count more than in proportion: limits look at all events for each candidate, a search for
// RetryAt asks at each instant, up to a number of looks. The others of these take too long for a test.
var grows = []string{
	"limits-full-by-workload", "limits-full-by-queue", "limits-of-shares", "rules-64-limits-64", "guard-own-times", "own-runtimes", "own-admit-times",
	"elastic-all", "own-columns-short-of-one", "nodes-groups", "wide-16x32x8", "wide-32x64x8", "wide-pinned", "levels-share", "levels-lend",
}

// Steps and allocations grow hardly faster than a hostile state.
func TestHostileStepsGrowWithTheState(t *testing.T) {
	var names []string
	for _, s := range shapes() {
		if !slices.Contains(grows, s.name) {
			names = append(names, s.name)
		}
	}
	if len(names) < 45 {
		t.Errorf("only %d states", len(names))
	}
	status, _, stderr := call(nil, "-hostile", "-quick", "-world", strings.Join(names, ","), "-scenario", "classical,fair,stable,rules,design,clear")
	if m := regexp.MustCompile(`(\d+) rows compared, 0 in blocks of code, 0 worse`).FindStringSubmatch(stderr); status != 0 || m == nil || len(m[1]) < 3 {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// More than the permitted is worse.
func TestHostilePermits(t *testing.T) {
	small := row{World: "w", Scenario: "fair", Outcome: "Preempt", Workloads: 1000, Steps: 1000, Allocs: 10}
	for steps, want := range map[int]int{4000: 0, 8000: 0, 10_000: 1} {
		large := row{World: "w", Scenario: "fair", Outcome: "Preempt", Workloads: 4000, Steps: steps, Allocs: 40}
		large.Name = large.path()
		var b strings.Builder
		if worse, err := compare(&b, options{more: 5}, permitted([]row{small}), []row{large}); worse != want || err != nil {
			t.Errorf("%d steps: %d worse, want %d, %v: %s", steps, worse, want, err, &b)
		}
	}
}

// A row says which state it is about, and how to ask again.
func TestHostileTable(t *testing.T) {
	status, stdout, stderr := call(nil, "-hostile", "-workloads", "2000", "-world", "equal,nodes-one-pod", "-scenario", "fair,explain,moves")
	if status != 0 || stderr != "" {
		t.Errorf("status %d, %s", status, stderr)
	}
	for _, want := range []string{
		`(?m)^ equal of 2,000: 0 cohorts, 1 queues, 2000 workloads, 2000 replicas, 1 columns in use; asks with priority 9 in q000000`,
		`(?m)^ fair +│ +2,000 │ +[0-9,]+ │ +[0-9.]+[nµm]?s │ .* │ Preempt$`,
		`(?m)^ nodes-one-pod of 2,000: 200 nodes, 2000 pods`,
		`(?m)^ moves +│ .* │ Preempt$`,
		`(?m)^4 rows. The slowest:\n  [0-9.]+[nµm]?s: Preempt, \d+ steps: -hostile -world (equal|nodes-one-pod) -scenario \w+ -workloads 2000$`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("without %s:\n%s", want, stdout)
		}
	}
}
