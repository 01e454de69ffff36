package main

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/clock"
)

var noon = clock.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))

// call runs the program with no limit of width.
func call(piped io.Reader, args ...string) (status int, stdout, stderr string) {
	return callOn(cli.Screen{}, piped, args...)
}

func callOn(screen cli.Screen, piped io.Reader, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(args, stdio{in: piped, out: &out, err: &err, screen: screen, name: "whatif", clock: noon})
	return status, out.String(), err.String()
}

func TestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		status int
	}{
		"sample":     {nil, 0},
		"fits":       {[]string{"-workload", "nlp/lora-sweep"}, 0},
		"policies":   {[]string{"-workload", "recsys/two-tower-xl"}, 1},
		"too-large":  {[]string{"-workload", "evals/long-context-all"}, 1},
		"described":  {[]string{"-request", "cpu=4,nvidia.com/gpu=1", "-queue", "vision", "-priority", "900", "-count", "4", "-flavor", "h100"}, 0},
		"borrows":    {[]string{"-request", "nvidia.com/gpu=40", "-queue", "vision", "-priority", "500"}, 1},
		"no-quota":   {[]string{"-request", "tpu=1", "-queue", "vision"}, 1},
		"preempts":   {[]string{"-request", "nvidia.com/gpu=24", "-queue", "nlp", "-priority", "900"}, 0},
		"fair":       {[]string{"-fair", "-request", "nvidia.com/gpu=24", "-queue", "nlp", "-priority", "900"}, 0},
		"fair-final": {[]string{"-fair", "-strategies", "LessThanOrEqualToFinalShare", "-workload", "recsys/two-tower-xl"}, 1},
		"moved":      {[]string{"-workload", "nlp/lora-sweep", "-queue", "vision"}, 1},
		"all":        {[]string{"-all"}, 0},
		"tree":       {[]string{"-tree"}, 0},
		"json":       {[]string{"-o", "json"}, 0},
		"json-never": {[]string{"-o", "json", "-workload", "recsys/two-tower-xl"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := call(nil, c.args...)
			if status != c.status || stderr != "" {
				t.Errorf("status %d, want %d; stderr %q", status, c.status, stderr)
			}
			golden.Check(t, name, stdout)
		})
	}
}

// A queue's flavorFungibility is heeded: where whenCanPreempt is MayStopSearch the first
// flavor in which some workload may yield is taken.
func TestFlavorFungibility(t *testing.T) {
	const state = `{"queues":[{"name":"a","quotas":[{"flavor":"f","resource":"cpu","nominal":2000},{"flavor":"g","resource":"cpu","nominal":2000}],
		"preemption":{"withinClusterQueue":"LowerPriority"},"flavorFungibility":{"whenCanPreempt":"TryNextFlavor"}}],
		"admitted":[{"id":"low","queue":"a","reservedAt":"2026-11-20T11:00:00Z",
		"podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"cpu","amount":2000}]}]}]}`
	args := []string{"-request", "cpu=1", "-queue", "a", "-priority", "1"}
	_, stdout, _ := call(strings.NewReader(state), args...)
	for _, want := range []string{"1 cpu of g in queue a", "others would have to yield (whenCanPreempt)", "taken"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout without %q:\n%s", want, stdout)
		}
	}
	_, stdout, _ = call(strings.NewReader(strings.Replace(state, "TryNextFlavor", "MayStopSearch", 1)), args...)
	for _, want := range []string{"1 cpu of f in queue a", "fits once low yields"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout without %q:\n%s", want, stdout)
		}
	}
}

// Bad input is status 2, nothing on standard output, and one line that says what.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"not JSON":               {"hello", []string{"-f", "-"}, "found a string"},
		"empty":                  {"", []string{"-f", "-"}, "standard input: it is empty"},
		"empty pipe":             {" ", nil, "standard input: it is empty"},
		"ends early":             {`{"kind":"List","items":[{"kind":`, nil, "ends early"},
		"unknown kind":           {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}`, nil, "there are no objects of Kueue or KAI in the input"},
		"not Kueue's":            {`{"apiVersion":"scheduling.k8s.io/v1alpha1","kind":"Workload","metadata":{"name":"p"}}`, nil, "workloads.kueue.x-k8s.io"},
		"garbage":                {strings.Repeat("\x00\xff garbage ", 1000), nil, "neither JSON nor YAML"},
		"nested":                 {strings.Repeat("[", 100_000), nil, "exceeded max depth"},
		"no such file":           {"", []string{"-f", filepath.Join(dir, "none")}, "no such file"},
		"a directory":            {"", []string{"-f", dir}, "is a directory"},
		"not found":              {"", []string{"-workload", "vision/detector"}, "the nearest: vision/detector-train"},
		"forgotten namespace":    {"", []string{"-workload", "detector-trian"}, "the nearest: vision/detector-train"},
		"runs already":           {"", []string{"-workload", "evals/arena-judge"}, "holds quota in queue evals already since 2026-11-20T09:10:02Z: it does not wait; safe evals/arena-judge says until when it keeps its place"},
		"no such queue":          {"", []string{"-request", "cpu=1", "-queue", "visoin"}, "the nearest: vision"},
		"no such flavor":         {"", []string{"-request", "cpu=1", "-queue", "vision", "-flavor", "b200"}, `has no flavor "b200"`},
		"both":                   {"", []string{"-workload", "a/b", "-request", "cpu=1"}, "give one of them"},
		"request without queue":  {"", []string{"-request", "cpu=1"}, "needs -queue"},
		"queue alone":            {"", []string{"-queue", "vision"}, "-queue needs -request or -workload"},
		"count of a pending":     {"", []string{"-workload", "nlp/lora-sweep", "-count", "3"}, "need -request"},
		"finished":               {"", []string{"-workload", "nlp/tokenizer-build"}, "is finished"},
		"no such local queue":    {"", []string{"-request", "cpu=1", "-queue", "vision/mian"}, "local queue \"vision/mian\" is not in the input; the nearest: "},
		"bad quantity":           {"", []string{"-request", "cpu=lots", "-queue", "vision"}, `"lots" is not a quantity`},
		"huge exponent":          {"", []string{"-request", "cpu=1e999999999", "-queue", "vision"}, "out of range"},
		"negative":               {"", []string{"-request", "cpu=-1", "-queue", "vision"}, "is negative"},
		"twice":                  {"", []string{"-request", "cpu=1,cpu=2", "-queue", "vision"}, "cpu is listed twice"},
		"no equals sign":         {"", []string{"-request", "cpu", "-queue", "vision"}, "want RESOURCE=QUANTITY"},
		"bad count":              {"", []string{"-request", "cpu=1", "-queue", "vision", "-count", "0"}, "want at least 1"},
		"more than any amount":   {"", []string{"-request", "cpu=9000000000", "-count", "9000000000", "-queue", "vision"}, "take more than 4611686018427387904 of cpu (workload"},
		"bad time":               {"", []string{"-at", "noon"}, "want a time"},
		"bad output":             {"", []string{"-o", "xml"}, "want text, wide, json, yaml, name"},
		"strategies of nothing":  {"", []string{"-strategies", "LessThanInitialShare"}, "they need -fair"},
		"unknown strategy":       {"", []string{"-fair", "-strategies", "Least"}, "Least"},
		"strategies in reverse":  {"", []string{"-fair", "-strategies", "LessThanInitialShare,LessThanOrEqualToFinalShare"}, "LessThanOrEqualToFinalShare before LessThanInitialShare"},
		"bad flag":               {"", []string{"-frobnicate"}, "usage: whatif"},
		"argument":               {"", []string{"detector-train"}, "unexpected argument"},
		"two names":              {"", []string{"ask", "vision/detector-train", "-workload", "x"}, "give one of them"},
		"three arguments":        {"", []string{"ask", "job", "a", "b"}, "unexpected argument \"b\""},
		"no such owner":          {"", []string{"ask", "job", "detector-train"}, "no workload of job \"detector-train\" is in the input"},
		"another namespace":      {"", []string{"-sample", "cluster", "ask", "detector-train", "-n", "nlp"}, "workload \"nlp/detector-train\" is not in the input; the nearest"},
		"state: unknown field":   {`{"queues":[{"nam":"a"}]}`, nil, "unknown field"},
		"state: a list twice":    {`{"queues":[{"name":"a"}],"queues":[]}`, nil, "queues: is there twice"},
		"state: a field twice":   {`{"queues":[{"name":"a"}],"rules":[{"name":"c","rules":[{"name":"r"}],"rules":[]}]}`, nil, "rules[0].rules: is there twice"},
		"state: rules alone":     {`{"rules":[{"name":""}]}`, nil, "rules[0].name: is empty"},
		"state: no integer":      {`{"queues":[{"name":"a","quotas":[{"flavor":"f","resource":"cpu","nominal":99999999999999999999}]}]}`, nil, "item 1: queues[0].quotas[0]: want an integer, found number 99999999999999999999"},
		"record: no time":        {`{"state":{"queues":[{"name":"q"}]},"request":{"workload":{"id":"w","queue":"q"},"now":"noon"}}`, nil, `request.now: "noon" is not a time`},
		"state: limits only":     {`{"queues":[{"name":"a","quotas":[{"flavor":"f","resource":"cpu","borrowingLimit":1}]}]}`, nil, "no nominal"},
		"state: every fault":     {`{"queues":[{"name":"a","cohort":"x"},{"name":"a"}]}`, nil, `unknown cohort "x" (queue "a") (and 1 more fault)`},
		"state: nothing waits":   {`{"queues":[{"name":"a"}]}`, []string{"ask"}, "no workload waits"},
		"same resources twice":   {"", []string{"-request", "cpu=1", "-queue", "nlp", "-flavor", "h100,a100-spot"}, "h100 and a100-spot are for the same resources"},
		"several wait":           {string(theSample()), []string{"-f", "-", "ask"}, "4 workloads wait in the input: name one, as in evals/long-context-all, nlp/lora-sweep, recsys/two-tower-xl and 1 more"},
		"two documents, one bad": {`{"kind":"List","items":[]} ]`, nil, "not JSON"},
		"gzip that is none":      {"\x1f\x8bnot gzip", nil, "the gzip is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			var piped io.Reader
			if c.stdin != "" || len(c.args) > 1 && c.args[1] == "-" {
				piped = strings.NewReader(c.stdin)
			}
			status, stdout, stderr := call(piped, c.args...)
			if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") ||
				!strings.HasPrefix(stderr, "whatif: ") || !strings.Contains(stderr, c.want) || len(stderr) > 1000 {
				t.Errorf("status %d, stdout %.100q, stderr %.1000q, want %q", status, stdout, stderr, c.want)
			}
		})
	}
}

var sinceLine = regexp.MustCompile(`(?m)^ *"leavingSince": .*\n`)

// A record is what a decision depends on: the JSON answer's request on the sample's
// state, as one file, is answered alike.
func TestRecordIsAnsweredAlike(t *testing.T) {
	_, first, _ := call(nil, "-o", "json")
	var answer struct {
		Request  preemption.Request  `json:"request"`
		Decision preemption.Decision `json:"decision"`
	}
	if err := json.Unmarshal([]byte(first), &answer); err != nil {
		t.Fatal(err)
	}
	in := must(answers.ReadSample(answers.Samples[0]))(t)
	record := must(json.Marshal(preemption.Record{State: in.State, Request: &answer.Request}))(t)
	first = sinceLine.ReplaceAllString(first, "") // a state does not say since when
	status, second, stderr := call(bytes.NewReader(record), "-o", "json")
	if status != 0 || first != second {
		t.Errorf("status %d, %q: %s", status, stderr, cmp.Diff(first, second))
	}
}

// A state of cede's own is asked with -request, at the given time.
func TestOwnState(t *testing.T) {
	const state = `{"queues":[{"name":"a","quotas":[{"flavor":"f","resource":"cpu","nominal":2000}],
		"preemption":{"withinClusterQueue":"LowerPriority"}}],
		"admitted":[{"id":"low","queue":"a","reservedAt":"2026-11-20T11:00:00Z",
		"podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"cpu","amount":2000}]}]}]}`
	status, stdout, stderr := call(strings.NewReader(state), "-request", "cpu=500m", "-queue", "a", "-priority", "1",
		"-at", "2026-11-20T12:30:00Z")
	for _, want := range []string{"It asks for 500m cpu of f in queue a", "low", "InClusterQueue", "90m", "2 cpu"} {
		if status != 0 || !strings.Contains(stdout, want) {
			t.Errorf("status %d, stderr %q, stdout without %q:\n%s", status, stderr, want, stdout)
		}
	}
}

// A workload that may start with fewer replicas than it asks for says with how many it would.
func TestPartialAdmission(t *testing.T) {
	const record = `{"state":{"queues":[{"name":"a","quotas":[{"flavor":"f","resource":"gpu","nominal":8}]}]},
		"request":{"now":"2026-11-20T12:00:00Z","minCounts":[{"podSet":"worker","count":2}],"workload":{"id":"e","queue":"a",
		"podSets":[{"name":"worker","count":%s,"requests":[{"flavor":"f","resource":"gpu","amount":2}]}]}}}`
	for count, want := range map[string]bool{"5": true, "4": false} {
		_, stdout, stderr := call(strings.NewReader(strings.Replace(record, "%s", count, 1)))
		if got := strings.Contains(stdout, " with 4 of 5 replicas of worker."); got != want || !strings.Contains(stdout, "e fits now") {
			t.Errorf("%s: stderr %q, stdout:\n%s", count, stderr, stdout)
		}
	}
}

// Equals of a queue with minAdmitDuration yield when their time is over, and it is said.
func TestTimeBased(t *testing.T) {
	timed := strings.Replace(smallCluster, `{"withinClusterQueue":"LowerPriority"}`,
		`{"withinClusterQueue":"LowerOrNewerEqualPriority","withinClusterQueueConfig":{"minAdmitDuration":"4h"}}`, 1)
	timed = strings.Replace(timed, `"priority":5`, `"priority":0`, 1)
	for at, want := range map[string]string{
		"2026-11-20T13:00:00Z": "withinClusterQueue is LowerOrNewerEqualPriority, and its priority is equal, it is not newer, and its minAdmitDuration of 4h0m0s is not over",
		"2026-11-20T12:00:00Z": "time alone helps at 2026-11-20T13:00:00.000000001Z, in 1h0m0s.",
		"2026-11-20T12:15:00Z": "its priority is equal, it is not newer, and its minAdmitDuration of 4h0m0s is not over, until 13:00:00",
		"2026-11-20T13:00:01Z": "InClusterQueueTimeBased: it runs in the same queue with the same priority",
	} {
		_, stdout, stderr := call(strings.NewReader(timed), "ask", "-at", at)
		if !strings.Contains(stdout, want) {
			t.Errorf("%s: stderr %q, stdout without %q:\n%s", at, stderr, want, stdout)
		}
	}
}

// -in asks about later: at the instant that an answer names, it is another answer.
func TestIn(t *testing.T) {
	timed := strings.Replace(smallCluster, `{"withinClusterQueue":"LowerPriority"}`,
		`{"withinClusterQueue":"LowerOrNewerEqualPriority","withinClusterQueueConfig":{"minAdmitDuration":"4h"}}`, 1)
	timed = strings.Replace(timed, `"priority":5`, `"priority":0`, 1)
	if status, stdout, _ := call(strings.NewReader(timed), "ask", "-at", "2026-11-20T12:00:00Z", "-in", "60m"); status != 1 || !strings.Contains(stdout, "waits: time alone helps") {
		t.Errorf("status %d:\n%s", status, stdout)
	}
	if status, stdout, _ := call(strings.NewReader(timed), "ask", "-at", "2026-11-20T12:00:00Z", "-in", "60m1ns"); status != 0 {
		t.Errorf("status %d:\n%s", status, stdout)
	}
}

// An elastic workload gives replicas; a protected one says why and until when.
func TestElasticAndProtected(t *testing.T) {
	const state = `{"queues":[{"name":"a","quotas":[{"flavor":"f","resource":"gpu","nominal":8}],
		"preemption":{"withinClusterQueue":"LowerPriority"},"minRuntime":{"preempt":"1h"}}],
		"admitted":[{"id":"e","queue":"a","reservedAt":"2026-11-20T11:14:00Z","podSets":[{"name":"worker","count":8,"minCount":2,
		"requests":[{"flavor":"f","resource":"gpu","amount":1}]}]}]}`
	for gpus, want := range map[string]string{
		"3": "e, 3 replicas of worker  a             0  46m  3 gpu",
		"7": "its minimum runtime against preemption in its queue, set by queue \"a\", is not over, until 12:14:00",
	} {
		_, stdout, stderr := call(strings.NewReader(state), "-request", "gpu="+gpus, "-queue", "a", "-priority", "1")
		if !strings.Contains(stdout, want) {
			t.Errorf("%s: stderr %q, stdout without %q:\n%s", gpus, stderr, want, stdout)
		}
	}
}

// A tree of hundreds of queues is cut down to those that matter.
func TestLargeTree(t *testing.T) {
	st := preemption.State{}
	in := must(answers.ReadSample(answers.Samples[0]))(t)
	st = in.State
	for i := range 300 {
		q := st.Queues[0].Clone()
		q.Name = "extra-" + strings.Repeat("x", i%5) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		st.Queues = append(st.Queues, q)
	}
	data := must(json.Marshal(st))(t)
	status, stdout, _ := call(bytes.NewReader(data), "-request", "nvidia.com/gpu=100", "-queue", "vision", "-flavor", "h100")
	if lines := strings.Count(stdout, "\n"); status == 2 || lines > 90 || !strings.Contains(stdout, "more queues") {
		t.Errorf("status %d, %d lines:\n%s", status, lines, stdout)
	}
}

// theSample is the text of the usual sample.
func theSample() []byte {
	text, err := answers.SampleText(answers.Samples[0])
	if err != nil {
		panic(err)
	}
	return text
}

// must returns what came without an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
