package model

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// The swatch of a priority in the legend names that priority, however many there are, and also of one that an
// edit sets.
func TestSwatchOfEachPriority(t *testing.T) {
	d := must(Sample())(t)
	m := must(New(d))(t)
	check := func() {
		t.Helper()
		texts := map[int]string{}
		for _, r := range m.Summary().Legend {
			texts[r.Colour] = r.Text
		}
		for _, s := range [...]*side{m.origin, m.now} {
			for w := range s.Snapshot.Workloads() {
				p, text := w.EffectivePriority(), texts[m.colourOf(w.EffectivePriority())]
				var least, most int64
				if n, _ := fmt.Sscanf(text, "%d to %d", &least, &most); n < 2 {
					most = least
				}
				if text == "" || p < least || p > most {
					t.Errorf("priority %d has the swatch of %q", p, text)
				}
			}
		}
	}
	check()
	if err := m.Set(Edit{Kind: "priority", Node: "nlp/reward-model", Value: "777"}); err != nil {
		t.Fatal(err)
	}
	check()
}

// A mark stands where a rule has ended: the first step of the slider leads to the instant at which time helps.
func TestFirstMarkIsWhereTimeHelps(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	gpus := []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: 4}}}}
	d := Document{Version: version, Now: now, Selected: "w",
		State: preemption.State{
			Queues: []queue.Queue{{Name: "q", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 4}},
				Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority, MinAdmitDuration: quota.Some(2 * time.Hour)}}},
			Admitted: []workload.Workload{{ID: "runs", Queue: "q", Queued: now.Add(-2 * time.Hour), ReservedAt: now.Add(-time.Hour), PodSets: gpus}},
		},
		Waiting: []Waiting{{Request: preemption.Request{Workload: workload.Workload{ID: "w", Queue: "q", Queued: now, PodSets: gpus}}}},
	}
	m := must(New(d))(t)
	want, marks := now.Add(time.Hour+1), m.Marks()
	if len(marks) == 0 || slices.ContainsFunc(marks, func(k Mark) bool { return !k.At.Equal(want) }) {
		t.Fatalf("marks %v, want all at %v", marks, want)
	}
	m.MoveTo(marks[0].At)
	if a := m.Ask(); a.Outcome != "Preempt" {
		t.Errorf("at the first mark: %s, %s", a.Outcome, a.Words)
	}
}
