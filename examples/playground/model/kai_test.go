package model

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
)

// A cluster of KAI is decided by its fair shares. The page does not look at nodes: a no stands, a yes is unknown.
func TestKAI(t *testing.T) {
	text, err := answers.SampleText("kai")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Read(bytes.NewReader(text), "kai.yaml", answers.SampleTime)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"lab/pg-editor": "Impossible", "speech/pg-whisper": "Impossible", "vision/pg-detector": "Unknown"}
	for i := range m.now.waiting {
		id, short := m.now.waiting[i].Workload.ID, m.now.short(i)
		if outcome := want[id[:strings.LastIndex(id, "-")]]; short.Outcome != outcome {
			t.Errorf("%s: %s, want %s", id, short.Words, outcome)
		}
		if short.Outcome == "Unknown" && !strings.Contains(short.Words, withoutNodes) {
			t.Errorf("%s: %s", id, short.Words)
		}
	}
	if _, err := New(Document{Version: 1, Now: d.Now, State: d.State, Edits: []Edit{{Kind: "sharing", Value: "fair"}}}); err == nil || !strings.Contains(err.Error(), "KAI decides by fair shares") {
		t.Errorf("%v", err)
	}
}
