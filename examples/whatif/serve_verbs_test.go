package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is asked over HTTP with parameters is what the verb answers with flags.
func TestServeAnswersAsVerbs(t *testing.T) {
	plain := func(text string) (v any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return v
	}
	for sample, questions := range map[string][][]string{
		"cluster": {
			{"next"}, {"next", "queue=nlp", "cycles=1"}, {"next", "quota=recsys:h100:nvidia.com/gpu=+8", "policy=recsys:reclaimWithinCohort=Any"}, {"next", "namespace=nlp"}, {"lint"}, {"diff", "quota=vision:h100:nvidia.com/gpu=64", "policy=recsys:reclaimWithinCohort=Any"},
			{"diff", "priority=recsys/two-tower-xl=900"}, {"safe"}, {"safe", "workload=vision/segment-ablation"}, {"settle"}, {"settle", "quota=recsys:h100:nvidia.com/gpu=4"},
			{"ask", "request=nvidia.com/gpu=8", "queue=vision", "priority=900"}, {"ask", "request=cpu=4,nvidia.com/gpu=8", "queue=nlp/default", "count=9", "flavor=h100"},
		},
		"trouble": {{"lint"}, {"lint", "rule=weight", "rule=lending"}},
		"kai":     {{"next"}, {"drain", "node=gpu-node-1"}, {"safe", "pod=lab/pg-notebook-0-d8273e2f-0"}, {"safe", "pods=all"}},
	} {
		address, _ := served(t, "-sample", sample)
		for _, q := range questions {
			verb, values, args := q[0], url.Values{}, []string{"-sample", sample, "-o", "json"}
			for _, p := range q[1:] {
				name, value, _ := strings.Cut(p, "=")
				values.Add(name, value)
				switch name {
				case "node":
					args = append(args, value)
				case "pods":
					args = append(args, "-pods")
				default:
					args = append(args, "-"+name, value)
				}
			}
			if verb == "ask" { // of explain it says more
				args = append([]string{"explain"}, args...)
			} else {
				args = append([]string{verb}, args...)
			}
			status, want, stderr := call(nil, args...)
			code, got := get(t, address+"/v1/"+verb+"?"+values.Encode(), "")
			if status == 2 || code != http.StatusOK {
				t.Errorf("%q: status %d, %s; %d, %s", args, status, stderr, code, got)
				continue
			}
			if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
				t.Errorf("%q: - command, + HTTP:\n%s", args, diff)
			}
		}
	}
}

func TestServeRefusesAsVerbs(t *testing.T) {
	address, _ := served(t)
	for path, want := range map[string]string{
		"/v1/next?cycles=20000":          "cycles 20000: want 1 to 10000",
		"/v1/next?queue=visio":           `the nearest: vision`,
		"/v1/lint?rule=none":             "rule: ",
		"/v1/diff":                       "diff needs something to compare with",
		"/v1/diff?quota=x":               "quota x: ",
		"/v1/drain":                      `{"path":"node","problem":"is missing"}`,
		"/v1/ask":                        `{"path":"queue","problem":"is missing"},{"path":"request","problem":"is missing"}`,
		"/v1/ask?request=x&queue=vision": "request ",
		"/v1/ask?request=cpu=1&queue=vision&count=-1": "count",
		"/v1/safe?workload=recsys/ltv":                `no workload \"recsys/ltv\" runs in the input; the nearest: recsys/ltv-batch`,
		"/v1/safe?requests=old":                       `requests \"old\": want new, or nothing`,
		"/v1/settle?all=true":                         `want one of quota`,
	} {
		if code, got := get(t, address+path, ""); code != http.StatusBadRequest || !strings.Contains(got, want) {
			t.Errorf("%s: status %d, %s, want %s", path, code, got, want)
		}
	}
	address, _ = served(t, "-sample", "kai")
	if code, got := get(t, address+"/v1/drain?node=gpu-node-1&node=x", ""); code != http.StatusBadRequest || !strings.Contains(got, `node \"x\" is not in the input`) {
		t.Errorf("drain: status %d, %s", code, got)
	}
}

// With -live a stream tells what became of a workload in the cluster.
func TestServeTellsChanges(t *testing.T) {
	fakeCluster(t, kaiCluster)
	address, stderr := served(t, "-live", "-scheduler", "kai", "-refresh", "10ms")
	answer := must(http.Get(address + "/v1/changes?namespace=a"))(t)
	defer func() { _ = answer.Body.Close() }()
	in := bufio.NewScanner(answer.Body)
	next := func() string {
		for in.Scan() {
			if data, is := strings.CutPrefix(in.Text(), "data: "); is {
				return data
			}
		}
		t.Fatalf("the stream ends: %v, %s", in.Err(), stderr)
		return ""
	}
	if got := next(); !strings.Contains(got, `"waiting":`) {
		t.Fatal(got)
	}
	fakeCluster(t, strings.ReplaceAll(kaiCluster, `"serve"`, `"later"`))
	for _, want := range []string{`"workload":"a/later","queue":"`, `"workload":"a/serve"`} {
		if got := next(); !strings.Contains(got, want) || !strings.Contains(got, `"change":"`+map[bool]string{true: "waits", false: "gone"}[strings.Contains(want, "later")]) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
