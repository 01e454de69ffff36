package model

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/quota/fairshare"
)

func ofKAI(t *testing.T) *Model {
	t.Helper()
	text := must(answers.SampleText("kai"))(t)
	return must(New(must(Read(bytes.NewReader(text), "kai.yaml", answers.SampleTime))(t)))(t)
}

// A cluster of KAI is decided by its fair shares, and on its nodes, also as it travels in a document.
func TestKAI(t *testing.T) {
	m := ofKAI(t)
	again := must(New(must(readDocument(bytes.NewReader(must(m.JSON())(t))))(t)))(t)
	want := map[string]string{"lab/pg-editor": "Impossible", "speech/pg-whisper": "Impossible", "vision/pg-detector": "Preempt"}
	for _, m := range []*Model{m, again} {
		for i := range m.now.waiting {
			id, short := m.now.waiting[i].Workload.ID, m.now.short(i)
			if outcome := want[id[:strings.LastIndex(id, "-")]]; short.Outcome != outcome {
				t.Errorf("%s: %s, want %s", id, short.Words, outcome)
			}
		}
	}
	if err := m.Select(answers.SampleAsks["kai"]); err != nil {
		t.Fatal(err)
	}
	if v := m.ensure(); v.after == nil || v.admitted == nil {
		t.Errorf("the victims are not carried out: %+v", v.decision)
	}
	for _, id := range []string{answers.SampleAsks["kai"], m.now.waiting[0].Workload.ID} {
		if err := m.Select(id); err != nil {
			t.Fatal(err)
		}
		if steps := m.Steps(); len(steps) == 0 || slices.ContainsFunc(steps, func(s Step) bool {
			return len(s.Ways) > 0 || strings.Contains(strings.Join(s.Lines, " "), "withinClusterQueue")
		}) {
			t.Errorf("%s is explained in the words of Kueue: %+v", id, steps)
		}
	}
	if err := m.Set(Edit{Kind: "sharing", Value: "fair"}); err == nil || !strings.Contains(err.Error(), "KAI decides by fair shares") {
		t.Errorf("%v", err)
	}
	if err := m.Set(Edit{Kind: "quota", Node: "lab", Flavor: "Nodes", Resource: "gpu", Field: "nominal", Value: "9"}); err == nil || !strings.Contains(err.Error(), "of KAI the page changes no quota") {
		t.Errorf("%v", err)
	}
}

// What is added to a cluster of KAI has pods that need room, and its queue requests it: so do more replicas, and fewer.
func TestAddToKAI(t *testing.T) {
	m := ofKAI(t)
	requested := func() int64 {
		for _, q := range m.now.Snapshot.FairShares() {
			if q.Queue == m.now.waiting[m.now.index["new"]].Workload.Queue {
				return q.Shares[slices.IndexFunc(q.Shares, func(s fairshare.Share) bool { return s.Resource == "gpu" })].Request
			}
		}
		return -1
	}
	if _, err := m.Add("vision", "cpu=1,nvidia.com/gpu=1", 2, 50); err != nil {
		t.Fatal(err)
	}
	two := requested()
	if w := m.now.waiting[m.now.index["new"]]; len(w.Pods) != 2 || m.now.short(m.now.index["new"]).Outcome == "Unknown" {
		t.Errorf("%+v", w)
	}
	for n, value := range map[int]string{3: "3", 1: "1"} {
		if err := m.Set(Edit{Kind: "replicas", Node: "new", Field: "main", Value: value}); err != nil {
			t.Fatal(err)
		}
		if w := m.now.waiting[m.now.index["new"]]; len(w.Pods) != n || requested() != two+int64(n)-2 {
			t.Errorf("%d replicas: %d pods, %d requested, with two %d", n, len(w.Pods), requested(), two)
		}
	}
	if err := m.Set(Edit{Kind: "replicas", Node: "new", Field: "main", Value: "0"}); err == nil {
		t.Error("no replicas are asked about")
	}
}
