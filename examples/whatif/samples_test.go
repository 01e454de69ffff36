package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/playground/site"
)

// Every verb answers about every sample. Where it cannot, one line says what to give instead.
func TestEveryVerbOnEverySample(t *testing.T) {
	build := buildPage
	t.Cleanup(func() { buildPage = build })
	buildPage = func() (site.Programs, error) { return site.Programs{Wasm: []byte("w"), Worker: []byte("s")}, nil }
	args := map[string][]string{
		"diff": {"-priority", "vision/detector-train=1"}, "diff rules": {"-priority", "prod/all=1"}, "diff kai": {"-priority", "vision/pg-detector-684ae8c7=60"},
		"diff trouble": {"-policy", "team:reclaimWithinCohort=Any"}, "drain": {"gpu-node-1"}, "page": {"-o", filepath.Join(t.TempDir(), "page.html")},
	}
	bad := map[string]string{ // what cannot be asked, and what to do
		"ask trouble": "describe one with -request and -queue", "ask rules": "name one, as in", "why trouble": "describe one with -request and -queue", "why rules": "name one, as in",
		"drain cluster": "-sample kai has nodes and pods", "drain trouble": "-sample kai has nodes and pods", "drain rules": "-sample kai has nodes and pods",
		"audit": "give -f FILE", "multikueue": "give -manager FILE and -worker NAME=FILE",
	}
	for _, v := range verbs() {
		if v.name == "serve" || v.name == "mcp" { // they answer until they are told to end
			continue
		}
		for _, sample := range answers.Samples {
			name := v.name + " " + sample
			more, want := args[name], bad[name]
			if more == nil {
				more = args[v.name]
			}
			if want == "" {
				want = bad[v.name]
			}
			status, out, said := call(nil, append([]string{v.name, "-sample", sample}, more...)...)
			switch {
			case want == "" && (status == 2 || out == "" && v.name != "page" || said != ""):
				t.Errorf("%s: status %d, %q, %s", name, status, out, said)
			case want != "" && (status != 2 || out != "" || strings.Count(said, "\n") != 1 || !strings.Contains(said, want)):
				t.Errorf("%s: status %d, %q, want %s: %s", name, status, out, want, said)
			}
		}
	}
	const queue = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},"spec":{}}`
	if status, _, said := call(strings.NewReader(queue), "drain", "n1"); status != 2 || !strings.Contains(said, "there are no nodes in the input: this needs nodes,pods") {
		t.Errorf("a queue alone: status %d, %s", status, fmt.Sprint(said))
	}
	if status, _, said := call(strings.NewReader("{"), "drain", "n1"); status != 2 || strings.Contains(said, "nodes") {
		t.Errorf("no JSON: status %d, %s", status, said)
	}
}
