package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/quota"
)

// The list of what waits has an order and an answer by choice. Equal workloads stay as they wait; an answer is
// listed once it is known.
func TestPendingByChoice(t *testing.T) {
	m := sample(t)
	of := func(c Choice) (ids []string) {
		for _, r := range m.Pending(c, 0, 100).Rows {
			ids = append(ids, r.ID)
		}
		return ids
	}
	if got := m.pendingList(Choice{Outcome: "Impossible"}); got != nil {
		t.Errorf("nothing was asked, and %v do not fit", got)
	}
	m.Work(100)
	asWaiting := []string{"evals/long-context-all", "nlp/lora-sweep", "recsys/two-tower-xl", "vision/detector-train"}
	for _, c := range []struct {
		Choice
		want []string
	}{
		{Choice{}, asWaiting},
		{Choice{Order: "size"}, asWaiting},
		{Choice{Order: "name"}, asWaiting},
		{Choice{Order: "queue"}, asWaiting},
		{Choice{Order: "priority"}, []string{asWaiting[3], asWaiting[0], asWaiting[2], asWaiting[1]}},
		{Choice{Order: "answer"}, []string{asWaiting[3], asWaiting[0], asWaiting[2], asWaiting[1]}}, // preempts, do not fit twice, fits
		{Choice{Outcome: "Impossible"}, []string{asWaiting[0], asWaiting[2]}},
		{Choice{Outcome: "Impossible", Filter: "TOWER"}, []string{asWaiting[2]}},
		{Choice{Outcome: "Held"}, nil},
	} {
		if diff := cmp.Diff(c.want, of(c.Choice)); diff != "" {
			t.Errorf("%+v: (- want, + got)\n%s", c.Choice, diff)
		}
	}
}

// A folded cohort hides what is below it, but not from a search.
func TestFolded(t *testing.T) {
	m := sample(t)
	of := func(p Part) (names []string) {
		for _, r := range m.Rows(m.Columns()[0], false, true, p, 0, 100).Rows {
			name := r.Name
			if r.Folds {
				name += " ▾"
			}
			if r.Folded {
				name += " folded"
			}
			names = append(names, name)
		}
		return names
	}
	whole := of(Part{})
	folded := of(Part{Folded: []string{"product", "no such cohort"}})
	at := slices.Index(folded, "product ▾ folded")
	if at < 0 || len(folded) != len(whole)-3 || slices.Contains(folded, "recsys") || !slices.Contains(folded, "nlp") || whole[at] != "product ▾" {
		t.Errorf("%q, of %q", folded, whole)
	}
	if got := of(Part{Folded: []string{"acme", "product"}}); !slices.Equal(got, []string{"acme ▾ folded"}) {
		t.Errorf("%q", got)
	}
	if got := of(Part{Filter: "rec", Folded: []string{"product"}}); !slices.Equal(got, []string{"recsys"}) {
		t.Errorf("%q", got)
	}
}

// With own scales the largest queue of each cohort has four fifths of the width; on one scale the largest node has it all.
func TestOwnScales(t *testing.T) {
	m := sample(t)
	column := m.Columns()[slices.IndexFunc(m.Columns(), func(c quota.FlavorResource) bool { return c.String() == "h100/nvidia.com/gpu" })]
	for _, own := range []bool{true, false} {
		longest := map[string]float64{} // of the queues, by their cohort
		for i, r := range m.Rows(column, false, own, Part{}, 0, 100).Rows {
			if !r.Cohort {
				longest[m.nodes[i].Parent] = max(longest[m.nodes[i].Parent], r.NominalTo, r.UsedTo)
			}
		}
		want := map[bool]map[string]float64{true: {"product": 0.8, "research": 0.8}, false: {"product": 24. / 88, "research": 32. / 88}}[own]
		if diff := cmp.Diff(want, longest); diff != "" {
			t.Errorf("own %v: (- want, + got)\n%s", own, diff)
		}
	}
}

// A workload that has quota and waits for an admission check is listed as held, and does not run.
func TestWorkloadsThatWaitForChecks(t *testing.T) {
	in := must(answers.ReadSample(answers.Samples[0]))(t)
	checked := bridge.Pending{Workload: in.State.Admitted[0], Unresolved: "it has quota and waits for its admission check capacity (Pending)"}
	in.Found.Checked = []bridge.Pending{checked}
	d := FromInput(in, "", answers.SampleTime)
	if n := d.running(); n != len(in.State.Admitted)-1 {
		t.Errorf("%d run of %d", n, len(in.State.Admitted))
	}
	d.Selected = checked.Workload.ID
	m := must(New(d))(t)
	if a := m.Ask(); a == nil || a.Outcome != answers.Held || !strings.Contains(a.Words, checked.Unresolved) {
		t.Errorf("%+v", a)
	}
}
