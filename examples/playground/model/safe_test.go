package model

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption/safe"
)

// The page says of each that runs what the library says, at the time of the slider and with the edits.
func TestSafe(t *testing.T) {
	m := sample(t)
	said := map[safe.Outcome]int{}
	check := func() {
		t.Helper()
		asker := must(safe.New(m.now.Preemptor, m.now.Snapshot, safe.Options{Now: m.at}))(t)
		for w := range m.now.Snapshot.Workloads() {
			got := call[Safe](t, m, "safe", `{"id": "`+w.ID+`"}`)
			want := must(asker.Until(w.ID))(t)
			if got.Outcome != want.Outcome || got.Words != m.now.SafeWords(want, m.at) || got.Short != answers.SafeFor(want.Outcome, want.At, m.at) {
				t.Errorf("%s: %+v, want %+v", w.ID, got, want)
			}
			said[got.Outcome]++
		}
	}
	check()
	before := m.at
	for _, k := range m.Marks() {
		m.MoveTo(k.At)
		check()
	}
	m.MoveTo(before)
	if err := m.Set(Edit{Kind: "policy", Node: "vision", Field: "reclaimWithinCohort", Value: "Never"}); err != nil {
		t.Fatal(err)
	}
	check()
	if said[safe.Now] == 0 || said[safe.Later]+said[safe.Never] == 0 {
		t.Errorf("said %v", said)
	}
	if _, err := m.Safe("nobody"); err == nil || !strings.Contains(err.Error(), `no workload "nobody" is admitted`) {
		t.Errorf("%v", err)
	}
}
