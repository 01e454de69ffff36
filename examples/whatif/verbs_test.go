package main

import (
	"encoding/json"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/mattn/go-runewidth"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
)

// now is the time at which the files of testdata/input are asked about.
const now = "2026-11-20T12:00:00Z"

// rulesFile is a cluster with preemption rules.
const rulesFile = "../internal/answers/samples/rules.yaml"

// Every verb on the sample and on the teams, at 80 and 120 columns: nothing is wider, and
// the same comes out twice.
func TestVerbs(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		status int
	}{
		"ask":              {[]string{"ask"}, 0},
		"ask-teams":        {[]string{"ask", "-f", "testdata/input/teams.yaml", "-at", now, "-workload", "lab/equal"}, 1},
		"ask-rules":        {[]string{"ask", "-f", rulesFile, "-at", now, "-workload", "prod/hero"}, 0},
		"ask-limit":        {[]string{"ask", "-f", rulesFile, "-at", "2026-11-20T12:31:00Z", "-workload", "prod/all"}, 1},
		"ask-rules-alone":  {[]string{"ask", "-f", rulesFile, "-at", now, "-workload", "prod/giant", "-rules-alone"}, 1},
		"overview-rules":   {[]string{"overview", "-f", rulesFile, "-at", now}, 1},
		"next-rules":       {[]string{"next", "-f", rulesFile, "-at", now}, 0},
		"explain-rules":    {[]string{"explain", "-f", rulesFile, "-at", now, "-workload", "prod/giant"}, 1},
		"diff-rule":        {[]string{"diff", "-f", rulesFile, "-at", now, "-rule", "hero:others-yield=off"}, 1},
		"diff-rules":       {[]string{"diff", "-f", rulesFile, "-at", now, "-apply", "testdata/input/yield.yaml", "-rules", "lab=draft"}, 1},
		"lint-rules":       {[]string{"lint", "-f", rulesFile, "-at", now}, 1},
		"ask-kai":          {[]string{"ask", "-sample", "kai"}, 0},
		"ask-kai-no":       {[]string{"ask", "-sample", "kai", "-workload", "lab/pg-editor-ab419498", "-tree"}, 1},
		"ask-kai-over":     {[]string{"ask", "-sample", "kai", "-request", "nvidia.com/gpu=8", "-queue", "vision"}, 1},
		"overview-kai":     {[]string{"overview", "-sample", "kai"}, 1},
		"next-kai":         {[]string{"next", "-sample", "kai"}, 0},
		"explain-kai":      {[]string{"explain", "-sample", "kai"}, 0},
		"lint-kai":         {[]string{"lint", "-sample", "kai"}, 1},
		"settle-kai":       {[]string{"settle", "-sample", "kai"}, 0},
		"overview":         {[]string{"overview"}, 1},
		"overview-teams":   {[]string{"overview", "-f", "testdata/input/teams.yaml", "-at", now}, 1},
		"next":             {[]string{"next"}, 0},
		"explain":          {[]string{"explain"}, 0},
		"explain-teams":    {[]string{"explain", "-f", "testdata/input/teams.yaml", "-at", now, "-workload", "lab/equal"}, 1},
		"lint":             {[]string{"lint"}, 0},
		"lint-teams":       {[]string{"lint", "-f", "testdata/input/teams.yaml", "-at", now}, 1},
		"lint-hurts":       {[]string{"lint", "-f", "../internal/answers/samples/trouble.yaml", "-at", now}, 1},
		"diff":             {[]string{"diff", "-quota", "vision:h100:nvidia.com/gpu=64", "-priority", "recsys/two-tower-xl=1000"}, 1},
		"diff-same":        {[]string{"diff", "-policy", "recsys:reclaimWithinCohort=Never"}, 0},
		"diff-teams":       {[]string{"diff", "-f", "testdata/input/teams.yaml", "-at", now, "-quota", "serve:h100:nvidia.com/gpu=4", "-policy", "batch:minAdmitDuration=1h"}, 1},
		"diff-to":          {[]string{"diff", "-f", "testdata/input/teams.yaml", "-to", "testdata/input/gates.json", "-at", now}, 1},
		"settle":           {[]string{"settle", "-quota", "vision:h100:nvidia.com/gpu=16"}, 1},
		"settle-within":    {[]string{"settle"}, 0},
		"settle-teams":     {[]string{"settle", "-f", "testdata/input/teams.yaml", "-at", now, "-quota", "serve:h100:nvidia.com/gpu=0", "-quota", "batch:h100:nvidia.com/gpu=0", "-max-victims", "2"}, 1},
		"safe":             {[]string{"safe"}, 1},
		"safe-one":         {[]string{"safe", "vision/segment-ablation"}, 1},
		"safe-good":        {[]string{"safe", "analytics/churn-forecast"}, 0},
		"safe-teams":       {[]string{"safe", "-f", "testdata/input/teams.yaml", "-at", now, "-new"}, 1},
		"safe-rules":       {[]string{"safe", "-f", rulesFile, "-at", now}, 3},
		"safe-pods":        {[]string{"safe", "-sample", "kai", "-pods"}, 1},
		"safe-pod":         {[]string{"safe", "-sample", "kai", "-pod", "lab/pg-notebook-0-d8273e2f-0"}, 1},
		"safe-kai":         {[]string{"safe", "-sample", "kai"}, 1},
		"guarantees":       {[]string{"guarantees"}, 0},
		"guarantees-one":   {[]string{"guarantees", "-queue", "vision"}, 0},
		"guarantees-teams": {[]string{"guarantees", "-f", "testdata/input/teams.yaml", "-at", now}, 0},
		"guarantees-rules": {[]string{"guarantees", "-f", rulesFile, "-at", now}, 3},
		"guarantees-kai":   {[]string{"guarantees", "-sample", "kai"}, 3},
		"next-teams":       {[]string{"next", "-f", "testdata/input/teams.yaml", "-at", now, "-cycles", "20"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			for file, width := range map[string]int{name + "-80": 80, name + "-120": 120} {
				status, stdout, stderr := callOn(cli.Screen{Width: width}, nil, c.args...)
				if status != c.status || stderr != "" {
					t.Errorf("status %d, want %d; %s", status, c.status, stderr)
				}
				golden.Check(t, "verbs/"+file, stdout)
				for line := range strings.Lines(stdout) {
					if runewidth.StringWidth(strings.TrimSuffix(line, "\n")) > width {
						t.Errorf("wider than %d: %s", width, line)
					}
				}
				if _, again, _ := callOn(cli.Screen{Width: width}, nil, c.args...); again != stdout {
					t.Errorf("another answer the second time:\n%s\n%s", stdout, again)
				}
			}
			status, stdout, stderr := call(nil, append(c.args, "-o", "json")...)
			var any map[string]any
			if err := json.Unmarshal([]byte(stdout), &any); err != nil || status != c.status || stderr != "" || len(any) < 2 {
				t.Errorf("-o json: %v, status %d, %q in %s", err, status, stderr, stdout)
			}
			if !strings.HasPrefix(name, "ask") {
				golden.Check(t, "verbs/"+name+"-json", stdout)
			}
		})
	}
}

// -width is heeded, also 0: as wide as needed.
func TestWidth(t *testing.T) {
	for _, args := range [][]string{{"ask"}, {"overview"}, {"next"}, {"lint", "-f", "../internal/answers/samples/trouble.yaml"}, {"diff", "-quota", "vision:h100:nvidia.com/gpu=64"}} {
		verb := args[0]
		_, wide, _ := call(nil, args...)
		if _, got, _ := callOn(cli.Screen{Width: 80}, nil, append(args, "-width", "0")...); got != wide || strings.Contains(got, "…") {
			t.Errorf("%s at -width 0 is not as wide as needed:\n%s", verb, got)
		}
		_, narrow, _ := callOn(cli.Screen{Width: 80}, nil, args...)
		if _, got, _ := call(nil, append(args, "-width", "80")...); got != narrow || narrow == wide {
			t.Errorf("%s at -width 80:\n%s", verb, got)
		}
	}
}

var sequence = regexp.MustCompile("\x1b\\[[0-9;]*m")

// On a terminal answers are coloured, and the same without their colours; names bring none.
func TestColour(t *testing.T) {
	for _, args := range [][]string{
		{"ask"}, {"ask", "-workload", "recsys/two-tower-xl"}, {"overview"}, {"next"}, {"lint"}, {"diff", "-quota", "vision:h100:nvidia.com/gpu=64"},
		{"ask", "-f", "testdata/input/escapes.json"}, {"overview", "-f", "testdata/input/escapes.json"}, {"next", "-f", "testdata/input/escapes.json"},
		{"lint", "-f", "testdata/input/escapes.json"}, {"lint", "-f", "../internal/answers/samples/trouble.yaml"},
	} {
		_, plain, _ := callOn(cli.Screen{Width: 80}, nil, args...)
		_, coloured, _ := callOn(cli.Screen{Width: 80, Colour: true}, nil, args...)
		noColour := strings.HasPrefix(plain, "No workload is tried") // there is no answer in it
		if coloured == plain && !noColour || sequence.ReplaceAllString(coloured, "") != plain {
			t.Errorf("%q:\n%s\nplain:\n%s", args, coloured, plain)
		}
		for line := range strings.Lines(coloured) {
			if n := len(sequence.FindAllString(line, -1)); n%2 != 0 || n > 2 {
				t.Errorf("%q: %d sequences in %q", args, n, line)
			}
		}
		if strings.ContainsRune(plain, '\x1b') {
			t.Errorf("%q: a sequence without colour: %q", args, plain)
		}
	}
}

// Names with escape sequences, line breaks and marks that turn the direction of writing reach
// no terminal by any verb.
func TestNamesArePrintableByEveryVerb(t *testing.T) {
	for _, args := range [][]string{
		{"overview"}, {"overview", "-o", "json"}, {"overview", "-queue", "no\x1b[2J"}, {"next"}, {"next", "-o", "json"}, {"next", "-queue", "\u202e"},
		{"explain"}, {"explain", "-o", "json"}, {"explain", "-workload", "\x1b[2J"}, {"lint"}, {"lint", "-o", "json"}, {"lint", "-rule", "\x1b[2J"}, {"diff", "-priority", "b/b1\x1b[31mRED\x1b[0m=2000"}, {"diff", "-policy", "\x1b[2J:x=y"}, {"diff", "-to", "testdata/input/escapes.json"}, {"diff", "-quota", "\x1b:\x1b:\x1b=1"}, {"\x1b[31m"}, {"overview", "\x1b[31m"},
	} {
		data := must(os.ReadFile("testdata/input/escapes.json"))(t)
		status, stdout, stderr := callOn(cli.Screen{Width: 80}, strings.NewReader(string(data)), args...)
		if stdout == "" && stderr == "" || status == 2 != (stderr != "") {
			t.Errorf("%q: status %d, %q, %q", args, status, stdout, stderr)
		}
		_, whole, _ := call(strings.NewReader(string(data)), args...) // without a width no line is broken
		for line := range strings.Lines(whole) {
			if strings.HasPrefix(line, "FAKE") || strings.HasPrefix(line, "line2") {
				t.Errorf("%q: a name begins a line: %q", args, line)
			}
		}
		for line := range strings.Lines(stdout + stderr) {
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%q: %q", args, line)
			}
		}
	}
}

// Bad input to every verb is status 2, nothing on standard output, and one line.
func TestBadInputOfVerbs(t *testing.T) {
	type badCase = struct {
		args []string
		want string
	}
	own := map[string][]badCase{
		"overview": {{[]string{"-queue", "visoin"}, `queue "visoin" is not in the input; the nearest: vision`}},
		"next":     {{[]string{"-queue", "none"}, "the nearest"}, {[]string{"-cycles", "0"}, "-cycles 0: want 1 to 10000"}, {[]string{"-cycles", "many"}, "invalid argument"}},
	}
	own["lint"] = []badCase{{[]string{"-rule", "waste"}, `-rule: there is no rule "waste": want lending, unreachable`}, {[]string{"-rule"}, "-rule needs a value: RULE"}}
	own["why"] = []badCase{{[]string{"-workload", "vision/detector"}, "the nearest: vision/detector-train"}, {[]string{"-request", "cpu=1"}, "needs -queue"}, {[]string{"-count", "2"}, "need -request"}}
	own["safe"] = []badCase{
		{[]string{"vision/segment"}, `no workload "vision/segment" runs in the input; the nearest: `},
		{[]string{"-queue", "visoin"}, `queue "visoin" is not in the input; the nearest: vision`},
		{[]string{"a/b", "c", "d"}, `unexpected argument "d"`},
		{[]string{"-sample", "kai", "-pod", "lab/pg-notebook"}, `no pod "lab/pg-notebook" runs in the input; the nearest: `},
		{[]string{"-pod", "lab/pg-notebook", "-new"}, "-pod: it is about the nodes"},
	}
	own["guarantees"] = []badCase{{[]string{"-queue", "visoin"}, `queue "visoin" is not in the input; the nearest: vision`}}
	own["settle"] = []badCase{
		{[]string{"-max-victims", "-1"}, "-max-victims -1: want 0 or more"},
		{[]string{"-quota", "vision=4"}, "want QUEUE:FLAVOR:RESOURCE=QUANTITY"},
		{[]string{"-apply", "testdata/none"}, "no such file"},
	}
	own["diff"] = []badCase{
		{nil, "diff needs something to compare with"},
		{[]string{"-to", "-", "-f", "-"}, "both read from standard input"},
		{[]string{"-to", "testdata/none"}, "no such file"},
		{[]string{"-quota", "vision=4"}, "want QUEUE:FLAVOR:RESOURCE=QUANTITY"},
		{[]string{"-quota", "visoin:h100:cpu=4"}, `there is no queue or cohort "visoin"; the nearest: vision`},
		{[]string{"-quota", "vision:b200:cpu=4"}, "vision has no quota for b200:cpu; it has: h100:cpu"},
		{[]string{"-quota", "vision:h100:cpu=lots"}, `"lots" is not a quantity`},
		{[]string{"-quota", "vision:h100:cpu="}, "want a quantity"},
		{[]string{"-quota", "vision:h100:cpu:limit=4"}, `"limit" is unknown`},
		{[]string{"-quota", "vision:h100:cpu=-4"}, "after the change the cluster is not valid"},
		{[]string{"-policy", "vision=Any"}, "want QUEUE:POLICY=VALUE"},
		{[]string{"-policy", "visoin:reclaimWithinCohort=Any"}, `there is no queue "visoin"; the nearest: vision`},
		{[]string{"-policy", "vision:reclaim=Any"}, `"reclaim" is unknown: want one of borrowWithinCohort`},
		{[]string{"-policy", "vision:reclaimWithinCohort=All"}, "All"},
		{[]string{"-policy", "vision:minAdmitDuration=2h"}, "after the change the cluster is not valid"},
		{[]string{"-rules", "vision"}, "-rules vision: want QUEUE=CONFIG"},
		{[]string{"-rules", "vision=hero"}, `-rules vision=hero: there are no rules "hero"; there are: nothing`},
		{[]string{"-f", rulesFile, "-rules", "labs=hero"}, `-rules labs=hero: there is no queue "labs"`},
		{[]string{"-f", rulesFile, "-rules", "lab=heroes"}, `there are no rules "heroes"; there are: draft, hero`},
		{[]string{"-rule", "hero=off"}, "-rule hero=off: want CONFIG:RULE=off"},
		{[]string{"-f", rulesFile, "-rule", "hero:none=off"}, `rules "hero" have no rule "none"; they have: others-yield, spot-yields`},
		{[]string{"-f", rulesFile, "-rule", "gone:none=off"}, `there are no rules "gone"`},
		{[]string{"-f", rulesFile, "-rule", "hero:spot-yields=on"}, `"on" is unknown: want off or only`},
		{[]string{"-apply", "testdata/none"}, "no such file"},
		{[]string{"-apply", "-"}, "-apply -: want a file"},
		{[]string{"-apply", "x", "-to", "y"}, "give one of them"},
		{[]string{"-priority", "vision/detector-train"}, "want NAMESPACE/NAME=N"},
		{[]string{"-priority", "vision/detector-train=high"}, `"high" is no priority: want an integer within`},
		{[]string{"-priority", "vision/detector-train=9223372036854775808"}, `"9223372036854775808" is no priority: want an integer within -9223372036854775808 and 9223372036854775807`},
		{[]string{"-policy", "vision:maxPriorityThreshold=high"}, `"high" is no priority`},
		{[]string{"-policy", "vision:minAdmitDuration=1 hour"}, `"1 hour" is not a duration (as in 30m or 0s)`},
		{[]string{"-priority", "vision/detector=1"}, `there is no workload "vision/detector"; the nearest: vision/detector-train`},
	}
	check := func(verb string, piped io.Reader, args []string, want string) {
		t.Helper()
		status, stdout, stderr := call(piped, append([]string{verb}, args...)...)
		if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "whatif: ") || !strings.Contains(stderr, want) {
			t.Errorf("%s %q: status %d, %q, %q; want %q", verb, args, status, stdout, stderr, want)
		}
	}
	for _, v := range verbs() {
		for _, c := range []struct {
			piped string
			args  []string
			want  string
		}{
			{" ", nil, "standard input: it is empty"},
			{"hello", nil, "found a string"},
			{`{"queues":[{"name":"a","cohort":"x"}]}`, []string{"-at", now}, `unknown cohort "x"`},
			{"", []string{"-f", "testdata/none"}, "no such file"},
			{"", []string{"-frobnicate"}, "unknown flag: --frobnicate; usage: whatif " + v.name + " "},
			{"", []string{"a", "b", "more"}, map[bool]string{true: "is not in the input", false: `unexpected argument "`}[v.name == "drain"]},
			{"", []string{"-live", "-f", "x"}, "give one of them"},
			{"", []string{"--as", "a", "-f", "x"}, "give one of them"},
			{"", []string{"-width", "-5"}, "want at least 0"},
			{"", []string{"-o", "xml"}, "want text, wide, json, yaml, name"},
			{"", []string{"-workloda", "x"}, "unknown flag: --workloda"},
			{"", []string{"-at", "noon"}, "want a time"},
			{"", []string{"-scheduler", "slurm"}, "want kueue or kai"},
		} {
			var piped io.Reader
			if c.piped != "" {
				piped = strings.NewReader(c.piped)
			}
			if v.own && (piped != nil || slices.Contains(c.args, "testdata/none")) {
				continue // it reads no standard input and no -f
			}
			if v.name == "diff" {
				c.args = append([]string{"-priority", "w=1"}, c.args...)
			}
			if v.name == "page" && slices.Contains(c.args, "-o") { // there -o is the file
				c.want = "want a file whose name ends in .html"
			}
			check(v.name, piped, c.args, c.want)
		}
		for _, c := range own[v.name] {
			check(v.name, nil, c.args, c.want)
		}
	}
}

// The help of every verb has its flags, an example that runs, and the exit statuses, and fits
// 80 columns but for the examples.
func TestHelp(t *testing.T) {
	for _, v := range verbs() {
		status, stdout, stderr := callOn(cli.Screen{Width: 80}, nil, v.name, "-h")
		if status != 0 || stderr != "" || !strings.Contains(stdout, "\nExit status:\n  0  "+v.yes) || !strings.Contains(stdout, "\nExamples:\n  whatif") {
			t.Errorf("%s: status %d, %q:\n%s", v.name, status, stderr, stdout)
		}
		golden.Help(t, stdout)
		for line := range strings.Lines(stdout) {
			if len(line) > 81 && !strings.HasPrefix(line, "  whatif ") {
				t.Errorf("%s: wide: %s", v.name, line)
			}
		}
	}
	_, stdout, _ := callOn(cli.Screen{Width: 80}, nil, "-h")
	golden.Help(t, stdout)
	if !strings.Contains(stdout, "\n  why, explain ") || !strings.Contains(stdout, "\n  drain ") || !strings.Contains(stdout, "VERB") {
		t.Error(stdout)
	}
	if status, all, _ := call(nil, "options"); status != 0 || !strings.Contains(all, "--kubeconfig FILE") || !strings.Contains(all, "--as string") {
		t.Error(all)
	}
}

// A verb is asked for with nothing as well: the flags of today go to ask.
func TestAskIsTheDefault(t *testing.T) {
	for _, args := range [][]string{{}, {"-all"}, {"-o", "json"}, {"-fair=false", "-workload", "nlp/lora-sweep"}, {"--workload", "nlp/lora-sweep"}, {"-workload=nlp/lora-sweep"}} {
		status, stdout, stderr := call(nil, args...)
		verbStatus, verbOut, verbErr := call(nil, append([]string{"ask"}, args...)...)
		if status != verbStatus || stdout != verbOut || stderr != verbErr || status != 0 {
			t.Errorf("%q: %d %q, ask: %d %q", args, status, stderr, verbStatus, verbErr)
		}
	}
	if status, _, stderr := call(nil, "-f", "testdata/input/teams.yaml", "overview", "-at", now); status != 1 || stderr != "" {
		t.Errorf("flags before a verb: status %d, %q", status, stderr)
	}
}
