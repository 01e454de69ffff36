package model

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
)

// A new workload is asked about as one that waits; it travels with the document, and is taken back with what was changed of it.
func TestAdd(t *testing.T) {
	m := sample(t)
	if id := call[string](t, m, "add", `{"queue":"vision","each":"cpu=4,nvidia.com/gpu=8","replicas":3,"priority":900}`); id != "new" {
		t.Fatalf("it is called %q", id)
	}
	w := must(answers.Describe("new", "cpu=4,nvidia.com/gpu=8", 3, m.doc.Now))(t)
	w.Queue, w.Priority = "vision", 900
	want := must(m.origin.Preemptor.Decide(m.origin.Snapshot, preemption.Request{Workload: w, Now: m.doc.Now}))(t)
	a := m.Ask()
	if a.Workload != "new" || a.Outcome != want.Outcome.String() || len(a.Victims) != len(want.Victims) || len(want.Victims) == 0 {
		t.Errorf("%+v, want %+v", a, want)
	}
	if s := m.Summary(); s.Pending != 5 || s.Selected != "new" || s.Edits[0].Text != "new waits in vision: 3 × cpu=4,nvidia.com/gpu=8" {
		t.Errorf("%+v", s)
	}
	if again, err := New(m.Document()); err != nil || again.Ask().Outcome != a.Outcome {
		t.Errorf("as a document: %v", err)
	}
	if id := call[string](t, m, "add", `{"queue":"nlp","each":"cpu=1","replicas":1}`); id != "new-2" {
		t.Errorf("the second is called %q", id)
	}
	if err := m.Set(Edit{Kind: "priority", Node: "new", Value: "1"}); err != nil {
		t.Fatal(err)
	}
	if m.Ask().Workload != "new-2" {
		t.Errorf("%s is shown", m.Ask().Workload)
	}
	if err := m.Unset(m.doc.Edits[0].Key()); err != nil || len(m.doc.Edits) != 1 || m.doc.Edits[0].Node != "new-2" {
		t.Errorf("%v, left: %v", err, m.doc.Edits)
	}
	if err := m.Unset(""); err != nil || m.Ask() != nil || m.Summary().Pending != 4 {
		t.Errorf("%v, %+v", err, m.Ask())
	}
	for arguments, want := range map[string]string{
		`{"queue":"visoin","each":"cpu=1","replicas":1}`:        `there is no queue "visoin"`,
		`{"queue":"vision","each":"cpu","replicas":1}`:          `want RESOURCE=QUANTITY`,
		`{"queue":"vision","each":"cpu=lots","replicas":1}`:     `cpu=lots: `,
		`{"queue":"vision","each":"cpu=-1","replicas":1}`:       `is negative`,
		`{"queue":"vision","each":"cpu=1,cpu=2","replicas":1}`:  `is listed twice`,
		`{"queue":"vision","each":"cpu=1","replicas":0}`:        `want at least 1`,
		`{"queue":"vision","each":"cpu=1","replicas":1.5}`:      `replicas`,
		`{"queue":"vision","each":"cpu=1","replicas":99999999}`: ``, // it does not fit, but is a question
	} {
		_, err := m.Call("add", []byte(arguments))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || len(m.doc.Edits) > 0) {
			t.Errorf("%s: %v", arguments, err)
		}
		if err := m.Unset(""); err != nil {
			t.Fatal(err)
		}
	}
	if list := call[[]string](t, m, "queues", `{}`); strings.Join(list, " ") != "analytics evals nlp recsys search vision" {
		t.Errorf("%q", list)
	}
}
