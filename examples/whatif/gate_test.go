package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// A closed preemption gate: the victims are named, but the answer is no.
func TestGated(t *testing.T) {
	var list struct {
		Kind  string           `json:"kind"`
		Items []map[string]any `json:"items"`
	}
	if err := json.Unmarshal(theSample(), &list); err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		if item["kind"] == "Workload" && item["metadata"].(map[string]any)["name"] == "detector-train" {
			item["spec"].(map[string]any)["preemptionGates"] = []any{map[string]any{"name": "g"}}
		}
	}
	gated := must(json.Marshal(list))(t)
	_, plain, _ := call(bytes.NewReader(theSample()), "-workload", "vision/detector-train")
	status, stdout, stderr := call(bytes.NewReader(gated), "-workload", "vision/detector-train")
	_, victims, found := strings.Cut(plain, "\n\nVICTIM")
	if !found || status != 1 || stderr != "" || !strings.Contains(stdout, "but a closed gate holds it back.") || !strings.HasSuffix(stdout, victims) {
		t.Errorf("status %d, %q:\n%s\nwithout gate:\n%s", status, stderr, stdout, plain)
	}
}
