package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/golden"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

func call(wrap func(scenario.Decide) scenario.Decide, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	if wrap == nil {
		wrap = func(d scenario.Decide) scenario.Decide { return d }
	}
	status = run(append([]string{"-time", "1us"}, args...), &out, &err, wrap)
	return status, out.String(), err.String()
}

func rowsOf(t *testing.T, jsonLine string) []row {
	t.Helper()
	var r report
	decoder := json.NewDecoder(strings.NewReader(jsonLine))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("%v in %s", err, jsonLine)
	}
	return r.Rows
}

// A decision with cold caches is measured if it is asked for, an operation never.
func TestCold(t *testing.T) {
	for _, args := range [][]string{{}, {"-cold"}} {
		status, stdout, stderr := call(nil, append(args, "-o", "json", "-world", "f1*", "-scenario", "reclaim-k4,admit")...)
		rows := rowsOf(t, stdout)
		if status != 0 || stderr != "" || len(rows) != 2 {
			t.Fatalf("%v: status %d, %q, %d rows", args, status, stderr, len(rows))
		}
		for _, r := range rows {
			if want := len(args) > 0 && r.Scenario != "admit"; (r.ColdNs > 0) != want {
				t.Errorf("%v: %s has %v", args, r.Scenario, r.ColdNs)
			}
		}
	}
}

func TestJSON(t *testing.T) {
	status, stdout, stderr := call(nil, "-o", "json", "-world", "f1-1k-10-1")
	rows := rowsOf(t, stdout)
	if status != 0 || stderr != "" || len(rows) != 17+len(operations) {
		t.Fatalf("status %d, %q, %d rows", status, stderr, len(rows))
	}
	timedByKueue := 0
	for _, r := range rows {
		operation := slices.ContainsFunc(operations, func(o operation) bool { return o.name == r.Scenario })
		if r.World != "f1-1k-10-1" || r.Mode != scenario.Classical || r.Workloads != 1000 || r.Queues != 10 || r.Ns <= 0 || !r.OK || r.Error != "" ||
			operation != (r.CheckedBy == "") || !operation && r.Steps == 0 {
			t.Errorf("%+v", r)
		}
		if r.KueueNs > 0 {
			timedByKueue++
		}
	}
	if timedByKueue != 13 {
		t.Errorf("%d rows with Kueue's time", timedByKueue)
	}
	if k100 := rows[8]; k100.Scenario != "reclaim-k100" || k100.Victims != 100 || k100.Steps < 100 || k100.CheckedBy != scenario.ByKueue || k100.Bytes < 1000 || k100.Allocs < 1 {
		t.Errorf("%+v", k100)
	}
	// The fields of a line, in their order.
	_, first, _ := strings.Cut(stdout, `"rows":[`)
	first, _, _ = strings.Cut(first, "},")
	if !regexp.MustCompile(`^{"name":"Decide/[^"]+","world":"[^"]+","scenario":"within-k1","mode":"classical","workloads":1000,"queues":10,"victims":1,"steps":\d+,"ns_op":[0-9.]+,"b_op":\d+,"allocs_op":\d+,"ok":true,"checked_by":"kueue","kueue_ns":[0-9.]+$`).MatchString(first) {
		t.Error(first)
	}
}

func TestTable(t *testing.T) {
	status, stdout, stderr := call(nil, "-world", "f1*,t1-10k-100-tree", "-scenario", "reclaim-k[14]", "-scenario", "admit")
	if status != 0 || stderr != "" {
		t.Errorf("status %d, %q", status, stderr)
	}
	for _, want := range []string{
		`(?m)^ f1-1k-10-1: 1,000 workloads, 10 queues$`,
		`(?m)^ t1-10k-100-tree: 10,000 workloads, 100 queues$`,
		`(?m)^ scenario +│ victims │ +steps │ +time/op │ +cold │ +B/op │ +allocs │ +Kueue │ +ratio │ by$`,
		`(?m)^ reclaim-k4 +│ +4 │ +[0-9,]+ │ +[0-9.]+[nµm]?s │ +│ +[0-9,]+ │ +[0-9,]+ │ +1\.19ms │ +[0-9,]+ │ kueue$`,
		`(?m)^ admit +│ +│ +│ +[0-9.]+[nµm]?s │ +│ +[0-9,]+ │ +[0-9,]+ │ +│ +│$`,
		`(?m)^6 rows, 0 wrong\nKueue's time to ours: [0-9,]+ in the geometric mean of 4, at least [0-9.,]+ \(`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("without %s:\n%s", want, stdout)
		}
	}
}

// A wrong answer is status 1, and the row says so: a victim too few, one too many,
// another outcome.
func TestWrongAnswer(t *testing.T) {
	for name, spoil := range map[string]func(*preemption.Decision){
		"too few":  func(d *preemption.Decision) { d.Victims = d.Victims[1:] },
		"too many": func(d *preemption.Decision) { d.Victims = append(d.Victims, d.Victims[0]) },
		"outcome":  func(d *preemption.Decision) { d.Outcome = preemption.Fits },
	} {
		wrap := func(right scenario.Decide) scenario.Decide {
			return func(s *preemption.Snapshot, r preemption.Request) (preemption.Decision, error) {
				d, err := right(s, r)
				if len(d.Victims) > 1 {
					d.Victims = slices.Clone(d.Victims)
					spoil(&d)
				}
				return d, err
			}
		}
		status, stdout, stderr := call(wrap, "-o", "json", "-world", "f1*", "-scenario", "within-k[12]")
		rows := rowsOf(t, stdout)
		if status != 1 || len(rows) != 2 || !rows[0].OK || rows[1].OK || rows[1].Error == "" || rows[1].Ns <= 0 ||
			!strings.HasPrefix(stderr, "bench: wrong: f1-1k-10-1 within-k2: ") {
			t.Errorf("%s: status %d, %q: %s", name, status, stderr, stdout)
		}
		status, stdout, _ = call(wrap, "-world", "f1*", "-scenario", "within-k[12]")
		if status != 1 || !strings.Contains(stdout, "WRONG") || !strings.Contains(stdout, "2 rows, 1 wrong") {
			t.Errorf("%s: status %d: %s", name, status, stdout)
		}
	}
}

// By rules that say the same as policies the answers are right, too.
func TestByRules(t *testing.T) {
	var out, err bytes.Buffer
	same := func(d scenario.Decide) scenario.Decide { return d }
	args := []string{"-quick", "-time", "1ns", "-world", "f1-1k-10-1", "-scenario", "within-k2,reclaim-k4,lowest", "-by", "rules", "-o", "json"}
	if status := run(args, &out, &err, same); status != 0 || strings.Count(out.String(), `"ok":true`) != 3 {
		t.Errorf("status %d, %s%s", status, out.String(), err.String())
	}
}

// Bad usage is status 2, nothing on standard output, and one line that says what.
func TestBadUsage(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"flag":             {[]string{"-frobnicate"}, "usage: bench"},
		"what decides":     {[]string{"-by", "chance"}, "want policies or rules"},
		"argument":         {[]string{"f1"}, `unexpected argument "f1"`},
		"mode":             {[]string{"-mode", "quick"}, "want classical or fair"},
		"pattern":          {[]string{"-scenario", "within-[k"}, `"within-[k" is not a pattern`},
		"empty pattern":    {[]string{"-world", "f1*,"}, `"" is not a pattern`},
		"no such scenario": {[]string{"-scenario", "without"}, "no scenario matches"},
		"no such world":    {[]string{"-world", "f9"}, "the worlds: f1-1k-10-1 "},
		"nothing in both":  {[]string{"-world", "f1*", "-scenario", "lca-double"}, "no scenario matches"},
		"no time":          {[]string{"-time", "0s"}, "want more than 0"},
		"no such form":     {[]string{"-o", "yaml"}, "want table, json or steps"},
		"less than none":   {[]string{"-more", "-1"}, "want zero or more"},
		"no such state":    {[]string{"-hostile", "-world", "f1*"}, "no state -world"},
		"hostile and cold": {[]string{"-hostile", "-cold"}, "neither -cold nor -by"},
		"too small":        {[]string{"-workloads", "999"}, "want at least 1000"},
		"no earlier":       {[]string{"-compare", "nonexistent.json"}, "nonexistent.json"},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := call(nil, c.args...)
			if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "bench: ") || !strings.Contains(stderr, c.want) {
				t.Errorf("status %d, %.100q, %q, want %q", status, stdout, stderr, c.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	status, stdout, stderr := call(nil, "-h")
	if status != 0 || stderr != "" || !strings.HasPrefix(stdout, "usage: bench") || !strings.Contains(stdout, "-compare") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	golden.Help(t, stdout)
}

// What is named in the message about no match is what there is.
func TestScenarioNames(t *testing.T) {
	known := strings.Fields(scenarioNames())
	for _, w := range []scenario.World{scenario.Worlds[0], scenario.Worlds[5], scenario.Hard[2]} {
		for _, s := range w.Scenarios() {
			if !slices.Contains(known, s.Name) {
				t.Errorf("%s is not in %v", s.Name, known)
			}
		}
	}
}
