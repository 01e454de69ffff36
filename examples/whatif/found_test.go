package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// Clusters of KAI in which one field decides, that a reader without nodes and pods once answered with yes: what is said of a group, by
// file. KAI says no, or, of 21, whom it takes; or it is not known: other node pools, pods that are not there. Made for this question on 28 November 2026, each of one good cluster.
var foundInKAI = map[string]struct {
	group  string // empty: perception/lidar-fusion-train
	status int
}{
	"18-kai-cpu-limit-absent":            {"", 1},
	"19-kai-memory-section-absent":       {"", 1},
	"20-kai-queue-of-another-node-pool":  {"", 3},
	"21-kai-no-start-time":               {"", 0},
	"22-kai-fewer-pods-than-the-minimum": {"", 1},
	"23-kai-group-of-another-node-pool":  {"", 3},
	"24-kai-pods-gated":                  {"", 1},
	"25-kai-node-affinity":               {"", 1},
	"26-kai-pods-without-group":          {"", 3},
	"27-kai-pods-have-ended":             {"", 0},
	"28-kai-gpu-fractions":               {"", 1},
	"29-kai-victims-terminate-already":   {"", 1},
	"30-kai-pods-bound-not-running":      {"", 1},
	"31-kai-gpu-memory":                  {"", 1},
	"32-kai-node-cordoned":               {"", 1},
	"33-kai-node-memory-pressure":        {"", 1},
	"34-kai-node-of-another-pool":        {"", 1},
	"35-kai-node-cpu":                    {"", 1},
	"36-kai-bind-requests":               {"", 1},
	"F2-kai-fair-share-wrong-no":         {"b/ask", 3},
	"F2-kai-idle-wrong-no":               {"a/ask", 3},
	"F2b-kai-no-nodes-wrong-yes":         {"a/ask", 3},
	"kai2-nonpreempt-gang12":             {"ns/pg", 1},
	"kai5-nonpreempt-gang12":             {"ns/pg", 3},
}

// Ask and explain have one verdict about each, and the overview has a row of it.
func TestFoundInKAI(t *testing.T) {
	files, err := filepath.Glob("testdata/found/*.json")
	if err != nil || len(files) != len(foundInKAI) {
		t.Fatalf("%d files, %d verdicts: %v", len(files), len(foundInKAI), err)
	}
	for _, file := range files {
		want, known := foundInKAI[strings.TrimSuffix(filepath.Base(file), ".json")]
		if !known {
			t.Errorf("%s: no verdict", file)
			continue
		}
		group := want.group
		if group == "" {
			group = "perception/lidar-fusion-train"
		}
		var verdicts []string
		for _, name := range []string{"ask", "explain"} {
			status, stdout, stderr := call(nil, name, "-f", file, "-at", "2026-11-27T12:00:00Z", "-workload", group)
			if status != want.status || stderr != "" {
				t.Errorf("%s %s: status %d, want %d: %s", name, file, status, want.status, stderr)
			}
			first, _, _ := strings.Cut(stdout, "\n")
			verdicts = append(verdicts, first)
		}
		if verdicts[0] != verdicts[1] {
			t.Errorf("%s: ask says %q, explain %q", file, verdicts[0], verdicts[1])
		}
		var over struct {
			Workloads []struct {
				Workload string `json:"workload"`
				Outcome  string `json:"outcome"`
			} `json:"workloads"`
		}
		_, stdout, _ := call(nil, "overview", "-f", file, "-at", "2026-11-27T12:00:00Z", "-o", "json")
		if err := json.Unmarshal([]byte(stdout), &over); err != nil {
			t.Fatal(err)
		}
		rows := 0
		for _, w := range over.Workloads {
			if w.Workload != group {
				continue
			}
			rows++
			if yes := w.Outcome == "Fits" || w.Outcome == "Preempt"; yes != (want.status == 0) {
				t.Errorf("%s: the overview says %s", file, w.Outcome)
			}
		}
		if rows != 1 {
			t.Errorf("%s: %d rows of %s in the overview", file, rows, group)
		}
	}
}
