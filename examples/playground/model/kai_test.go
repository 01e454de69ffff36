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
	if err := m.Set(Edit{Kind: "quota", Node: "lab", Flavor: "Nodes", Resource: "GPU", Field: "nominal", Value: "9"}); err == nil || !strings.Contains(err.Error(), "a queue of KAI has no quota") {
		t.Errorf("%v", err)
	}
}

// What is added to a cluster of KAI has pods that need room, and its queue requests it: so do more replicas, and fewer.
func TestAddToKAI(t *testing.T) {
	m := ofKAI(t)
	requested := func() int64 {
		for _, q := range m.now.Snapshot.FairShares() {
			if q.Queue == m.now.waiting[m.now.index["new"]].Workload.Queue {
				return q.Shares[slices.IndexFunc(q.Shares, func(s fairshare.Share) bool { return s.Resource == "GPU" })].Request
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
		if w := m.now.waiting[m.now.index["new"]]; len(w.Pods) != n || requested() != two+int64(n-2)*1000 {
			t.Errorf("%d replicas: %d pods, %d requested, with two %d", n, len(w.Pods), requested(), two)
		}
	}
	if err := m.Set(Edit{Kind: "replicas", Node: "new", Field: "main", Value: "0"}); err == nil {
		t.Error("no replicas are asked about")
	}
}

// What a queue of KAI may have is changed as a share: its fair share follows, and so do the answers. An edit that says what holds is none.
func TestSharesOfKAI(t *testing.T) {
	m := ofKAI(t)
	share := func(name string, cohort bool) NodeShare {
		n := must(m.Node(cohort, name))(t)
		if len(n.Quotas)+len(n.Policies) > 0 {
			t.Errorf("%s has quotas or policies: %+v", name, n)
		}
		return n.Shares[slices.IndexFunc(n.Shares, func(s NodeShare) bool { return s.Resource == "GPU" })]
	}
	was := share("vision", false)
	if was.Quota == "" || was.FairShare == "" {
		t.Fatalf("%+v", was)
	}
	edit := func(field, value string) Edit {
		return Edit{Kind: "share", Node: "vision", Resource: "GPU", Field: field, Value: value}
	}
	if !m.isSet(edit("quota", was.Quota)) || m.isSet(edit("quota", "1")) || !m.isSet(edit("limit", "none")) {
		t.Errorf("%+v", was)
	}
	if err := m.Set(edit("limit", "0"), edit("overQuotaWeight", "3")); err != nil {
		t.Fatal(err)
	}
	if is := share("vision", false); is.Limit != "0" || is.OverQuotaWeight != "3" || is.FairShare != "0" {
		t.Errorf("%+v", is)
	}
	if err := m.Select(answers.SampleAsks["kai"]); err != nil {
		t.Fatal(err)
	}
	if a := m.Ask(); a.Outcome != "Impossible" {
		t.Errorf("%+v", a)
	}
	for _, e := range []Edit{edit("limit", "much"), edit("weight", "1"), {Kind: "share", Node: "nobody", Resource: "GPU", Field: "limit", Value: "1"}, edit("overQuotaWeight", "-1")} {
		if err := m.Set(e); err == nil {
			t.Errorf("%+v is no error", e)
		}
	}
	above, _ := m.now.Snapshot.Queue("vision")
	if above.Cohort == "" {
		t.Fatal("no queue is above")
	}
	if err := m.Set(Edit{Kind: "share", Node: above.Cohort, Resource: "GPU", Field: "limit", Value: "1"}); err != nil || share(above.Cohort, true).Limit != "1" {
		t.Errorf("%v, %+v", err, share(above.Cohort, true))
	}
	if err := m.Unset(""); err != nil || share("vision", false) != was {
		t.Errorf("%v, %+v", err, share("vision", false))
	}
}
