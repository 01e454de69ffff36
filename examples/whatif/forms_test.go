package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/cedesched/cede/examples/internal/cli"
)

// YAML has what JSON has; wide is text as in a pipe; name is names alone, where there are any.
func TestForms(t *testing.T) {
	for verb, names := range map[string]string{
		"ask":      "evals/arena-judge evals/regression-suite nlp/reward-model recsys/ctr-backfill recsys/ltv-batch",
		"explain":  "evals/arena-judge evals/regression-suite nlp/reward-model recsys/ctr-backfill recsys/ltv-batch",
		"overview": "evals/long-context-all nlp/lora-sweep recsys/two-tower-xl vision/detector-train",
		"settle":   "", "next": "-", "lint": "-",
	} {
		_, text, _ := call(nil, verb, "-o", "json")
		_, written, _ := call(nil, verb, "-o", "yaml")
		var a, b any
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(written), &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %v\n%s\nas JSON:\n%s", verb, err, written, text)
		}
		_, piped, _ := call(nil, verb)
		if verb == "explain" { // it leaves out more without -o wide
			_, piped, _ = call(nil, verb, "-o", "wide")
		}
		if _, wide, _ := callOn(cli.Screen{Width: 40}, nil, verb, "-o", "wide"); wide != piped {
			t.Errorf("%s -o wide:\n%s\nin a pipe:\n%s", verb, wide, piped)
		}
		status, list, stderr := call(nil, verb, "-o", "name")
		if names == "-" {
			if status != 2 || list != "" || !strings.Contains(stderr, "-o name: ") {
				t.Errorf("%s -o name: status %d, %q, %q", verb, status, list, stderr)
			}
		} else if strings.Join(strings.Fields(list), " ") != names || stderr != "" {
			t.Errorf("%s -o name: %q, %q, want %q", verb, list, stderr, names)
		}
	}
	status, text, stderr := call(nil, "--version")
	if status != 0 || stderr != "" || !strings.HasPrefix(text, "whatif ") || !strings.HasSuffix(text, cli.Version()+"\n") {
		t.Errorf("--version: status %d, %q, %q", status, text, stderr)
	}
}

// A name that is nearly right gets a suggestion, and no other.
func TestSuggestions(t *testing.T) {
	for want, args := range map[string][]string{
		"; did you mean overview?":        {"overveiw"},
		"; did you mean -workload?":       {"-workloda", "x"},
		"; did you mean -queue?":          {"overview", "-qeueu", "x"},
		"or a workload as NAMESPACE/NAME": {"team"},
	} {
		status, _, stderr := call(nil, args...)
		if status != 2 || !strings.Contains(stderr, want) || strings.Contains(stderr, "mean") != strings.Contains(want, "mean") {
			t.Errorf("%q: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}

// A workload is named as kubectl names things: NAMESPACE/NAME, NAME, TYPE/NAME, TYPE NAME, with -n or without. TYPE is a workload, or what
// owns one.
func TestNames(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"vision/detector-train", "vision/detector-train fits"},
		{"detector-train", "vision/detector-train fits"},
		{"detector-train -n vision", "vision/detector-train fits"},
		{"-n vision detector-train", "vision/detector-train fits"},
		{"pytorchjob/detector-train", "vision/detector-train fits"},
		{"pytorchjobs.kubeflow.org/detector-train", "vision/detector-train fits"},
		{"pytorchjob detector-train -n vision", "vision/detector-train fits"},
		{"workload detector-train", "vision/detector-train fits"},
		{"wl/detector-train -n vision", "vision/detector-train fits"},
		{"-workload vision/detector-train", "vision/detector-train fits"},
	} {
		for _, verb := range []string{"why", "explain", "ask"} {
			status, stdout, stderr := call(nil, append([]string{verb, "-f", "../internal/answers/samples/cluster.json", "-at", now}, strings.Fields(c.args)...)...)
			if status != 0 || stderr != "" || !strings.HasPrefix(stdout, c.want) {
				t.Errorf("%s %s: status %d, %q:\n%.200s", verb, c.args, status, stderr, stdout)
			}
		}
	}
	twice := strings.Replace(smallCluster, `"name":"next","namespace":"a"`, `"name":"next","namespace":"b"`, 1) // a second one
	at := strings.Index(twice, `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"next"`)
	if _, _, stderr := call(strings.NewReader(smallCluster+"\n"+strings.TrimSuffix(strings.TrimSpace(twice[at:]), "]}")), "why", "next"); stderr != "whatif: next may mean a/next, b/next: name one as NAMESPACE/NAME\n" {
		t.Errorf("%q", stderr)
	}
}

// Without a verb the answer is about the workload that is named, else about all.
func TestWithoutVerb(t *testing.T) {
	sample := string(theSample())
	for _, c := range []struct {
		args   []string
		begins string
	}{
		{nil, "4 workloads wait."}, {[]string{"vision/detector-train"}, "vision/detector-train fits"}, {[]string{"-workload", "nlp/lora-sweep"}, "nlp/lora-sweep fits"},
		{[]string{"-request", "cpu=1", "-queue", "vision"}, "new fits"}, {[]string{"-o", "name"}, "evals/long-context-all\n"},
	} {
		if status, stdout, stderr := call(strings.NewReader(sample), c.args...); status == 2 || !strings.HasPrefix(stdout, c.begins) {
			t.Errorf("%q: status %d, %q, %.100s", c.args, status, stderr, stdout)
		}
	}
}
