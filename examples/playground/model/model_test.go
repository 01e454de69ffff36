package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

func sample(t testing.TB) *Model {
	t.Helper()
	d := must(Sample())(t)
	return must(New(d))(t)
}

// call makes a call as the page does and reads the result.
func call[T any](t testing.TB, m *Model, name string, arguments string) (result T) {
	t.Helper()
	data, err := m.Call(name, []byte(arguments))
	if err != nil {
		t.Fatalf("%s %s: %v", name, arguments, err)
	}
	if err := json.Unmarshal(data, &result); err != nil {
		t.Fatalf("%s: %v in %s", name, err, data)
	}
	return result
}

// The page answers as the library does, also after the document went through JSON.
func answersAsLibrary(t *rapid.T) {
	record := preemptiontest.RecordsWithoutFlavors().Draw(t, "record")
	fair := rapid.Bool().Draw(t, "fair")
	d := Document{Version: version, Now: record.Request.Now, State: record.State, Waiting: []Waiting{{Request: *record.Request}}, Fair: fair, Selected: record.Request.Workload.ID}
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = Read(bytes.NewReader(data), "", time.Time{}); err != nil {
		t.Fatal(err)
	}
	m, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	config := preemption.Config{MaxBlockers: 16}
	if fair {
		config.Sharing = preemption.Fair
	}
	p, err := preemption.New(config)
	if err != nil {
		t.Fatal(err)
	}
	s, err := preemption.NewSnapshot(record.State)
	if err != nil {
		t.Fatal(err)
	}
	check := func(at time.Time) {
		r := *record.Request
		r.Now = at
		want, err := p.Decide(s, r)
		if err != nil {
			t.Fatal(err)
		}
		m.MoveTo(at)
		got := m.Ask()
		one, _ := json.Marshal(want)
		other, _ := json.Marshal(got.Decision)
		if string(one) != string(other) {
			t.Fatalf("at %v: %s, want %s", at, other, one)
		}
		if row := m.Pending(Choice{}, 0, 1).Rows[0]; row.Outcome != want.Outcome.String() {
			t.Fatalf("the list says %+v, want %v", row, want.Outcome)
		}
		if end := m.Steps(); len(end) == 0 || want.Outcome == preemption.Preempt && m.view.after == nil && !r.HoldsQuota && len(r.MinCounts) == 0 {
			t.Fatalf("%d steps, after: %v", len(end), m.view.after)
		}
		if !want.RetryAt.IsZero() && !slices.ContainsFunc(m.Marks(), func(k Mark) bool { return k.Kind == "retry" }) {
			t.Fatalf("no mark for RetryAt: %v", m.Marks())
		}
	}
	check(record.Request.Now)
	check(record.Request.Now.Add(7 * time.Minute))
}

func TestAnswersAsLibrary(t *testing.T) { rapid.Check(t, answersAsLibrary) }
func TestSample(t *testing.T) {
	m := sample(t)
	s := call[Summary](t, m, "summary", `{}`)
	if s.Queues == 0 || s.Cohorts != 3 || s.Pending != 4 || s.Running == 0 || len(s.Legend) == 0 {
		t.Errorf("%+v", s)
	}
	a := call[*Answer](t, m, "ask", `{}`)
	if a.Outcome != "Preempt" || len(a.Victims) != 5 || s.Columns[a.Column] != "h100/nvidia.com/gpu" || !a.HasAfter {
		t.Errorf("%+v", a)
	}
	for i := range 4 {
		after, own := i%2 == 1, i > 1
		rows := m.Rows(m.Columns()[a.Column], after, own, Part{}, 0, 100)
		marks := map[string]int{}
		cohorts := map[float64]bool{} // where their bars end
		for _, r := range rows.Rows {
			if r.Cohort {
				cohorts[r.NominalTo] = true
			}
			for _, b := range r.Blocks {
				marks[b.Mark]++
				if b.From < 0 || b.To <= b.From {
					t.Errorf("%+v", b)
				}
			}
		}
		if one := cohorts[1] && len(cohorts) == 3; one == own { // of 88, 56 and 24 GPUs
			t.Errorf("own scales %v: the bars of cohorts end at %v", own, cohorts)
		}
		want := map[bool]string{false: "victim", true: "gone"}[after]
		if marks[want] != 5 || (marks["new"] == 1) != after || rows.Total != s.Queues+s.Cohorts {
			t.Errorf("after %v: %v", after, marks)
		}
	}
	steps := call[[]struct{ Title string }](t, m, "steps", `{}`)
	if n := len(steps); n < 8 || steps[n-1].Title != "The answer" {
		t.Errorf("%v", steps)
	}
}

// An edit changes answers, says whose, and taking it back restores everything.
func TestEdits(t *testing.T) {
	m := sample(t)
	before := must(m.JSON())(t)
	list := m.Pending(Choice{}, 0, 100)
	edit := `{"edits":[{"kind":"quota","node":"vision","flavor":"h100","resource":"nvidia.com/gpu","field":"nominal","value":"64"}]}`
	call[any](t, m, "set", edit)
	call[any](t, m, "set", `{"edits":[{"kind":"policy","node":"nlp","field":"reclaimWithinCohort","value":"Any"}]}`)
	tally := call[Tally](t, m, "work", `{"most":100}`)
	if tally.Left != 0 || tally.Better == 0 || len(m.Summary().Edits) != 2 {
		t.Errorf("%+v, %v", tally, m.Summary().Edits)
	}
	if a := m.Ask(); a.Outcome != "Fits" {
		t.Errorf("%+v", a)
	}
	changed := m.Pending(Choice{Changed: true}, 0, 100)
	if changed.Total != tally.Better+tally.Worse+tally.Other || changed.Rows[0].Before == "" {
		t.Errorf("%+v", changed)
	}
	// The document holds the edits.
	d := m.Document()
	data, _ := json.Marshal(d)
	read := must(Read(bytes.NewReader(data), "", time.Time{}))(t)
	again := must(New(read))(t)
	if diff := cmp.Diff(m.Ask(), again.Ask()); diff != "" {
		t.Error(diff)
	}
	// The value of the document takes an edit back.
	call[any](t, m, "set", `{"edits":[{"kind":"policy","node":"nlp","field":"reclaimWithinCohort","value":"LowerPriority"}]}`)
	call[any](t, m, "unset", `{"key":""}`)
	if after, _ := m.JSON(); string(after) != string(before) {
		t.Errorf("after all edits are taken back:\n%s\nwant\n%s", after, before)
	}
	if diff := cmp.Diff(list, m.Pending(Choice{}, 0, 100)); diff != "" {
		t.Error(diff)
	}
}

// A failed edit changes nothing and says what is wrong.
func TestEditErrors(t *testing.T) {
	for edit, want := range map[string]string{
		`{"kind":"quota","node":"vision","flavor":"h100","resource":"nvidia.com/gpu","field":"nominal","value":"many"}`: "is not a quantity",
		`{"kind":"quota","node":"vision","flavor":"h100","resource":"nvidia.com/gpu","field":"nominal","value":"-4"}`:   "negative",
		`{"kind":"quota","node":"nobody","field":"nominal","value":"1"}`:                                                "there is no queue",
		`{"kind":"policy","node":"vision","field":"withinClusterQueue","value":"Sometimes"}`:                            "Sometimes",
		`{"kind":"policy","node":"vision","field":"minAdmitDuration","value":"5s"}`:                                     "minAdmitDuration",
		`{"kind":"priority","node":"vision/detector-train","value":"high"}`:                                             "whole number",
		`{"kind":"replicas","node":"vision/detector-train","field":"none","value":"1"}`:                                 "no pod set",
		`{"kind":"odd","node":"vision/detector-train"}`:                                                                 "no kind of edit",
	} {
		m := sample(t)
		before := m.Ask()
		_, err := m.Call("set", []byte(`{"edits":[`+edit+`]}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", edit, err, want)
		}
		if diff := cmp.Diff(before, m.Ask()); diff != "" || len(m.Document().Edits) != 0 {
			t.Errorf("%s: %s", edit, diff)
		}
	}
}

// Each change that an explanation proposes makes the request succeed on the page, too.
func TestWays(t *testing.T) {
	found := 0
	for _, id := range []string{"recsys/two-tower-xl", "evals/long-context-all"} {
		m := sample(t)
		call[any](t, m, "select", `{"id":"`+id+`"}`)
		e := m.explanation()
		for i, way := range e.Ways {
			found++
			m := sample(t)
			call[any](t, m, "select", `{"id":"`+id+`"}`)
			call[any](t, m, "way", fmt.Sprintf(`{"way":%d}`, i))
			if a := m.Ask(); a.Outcome != way.Outcome.String() || len(a.Victims) != way.Victims {
				t.Errorf("%s: %+v: %s with %d victims", id, way, a.Outcome, len(a.Victims))
			}
		}
	}
	if found < 3 {
		t.Errorf("only %d ways", found)
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"": "empty",
		`{"cedePage":9,"now":"2026-01-01T00:00:00Z","state":{}}`: "version 9",
		`{"cedePage":1,"state":{"queues":5}}`:                    "queues",
		`{"cedePage":1`:                                          "document of a page",
		"kind: Pod\nmetadata: {name: a}":                         "no objects of Kueue or KAI",
	} {
		if _, err := Read(strings.NewReader(text), "file.json", time.Now()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := New(Document{}); err == nil {
		t.Error("a document without time is taken")
	}
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
