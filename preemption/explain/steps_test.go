package explain_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// checkSteps: those who are taken at the end are the victims, and the last step says the ways.
func checkSteps(t interface{ Errorf(string, ...any) }, e explain.Explanation) {
	var victims []string
	for _, v := range e.Decision.Victims {
		victims = append(victims, v.Workload)
	}
	end := slices.IndexFunc(e.Steps, func(s explain.Step) bool { return s.Title == "The answer" })
	if end < 0 {
		t.Errorf("there is no answer in %+v", e.Steps)
		return
	}
	if diff := cmp.Diff(victims, e.Steps[end].Taken); diff != "" {
		t.Errorf("- victims, + taken at the end:\n%s", diff)
	}
	last := e.Steps[len(e.Steps)-1]
	if e.Decision.Outcome.Succeeds() != (last.Title == "The answer") || len(last.Lines) != max(1, len(e.Ways)) {
		t.Errorf("the last step is %+v, the ways are %+v", last, e.Ways)
	}
}

func TestSteps(t *testing.T) {
	for name, e := range samples(t, explain.Printer{}) {
		t.Run(name, func(t *testing.T) { checkSteps(t, e) })
	}
	rapid.Check(t, func(t *rapid.T) {
		record := preemptiontest.RecordsWithoutFlavors().Draw(t, "record")
		config := preemptiontest.Configs().Draw(t, "config")
		searched := rapid.SampledFrom([]preemption.Config{{}, {Search: preemption.Best, Best: preemption.BestSearch{Steps: -1}}, {Search: preemption.Best}}).Draw(t, "search")
		config.Search, config.Best = searched.Search, searched.Best
		if rapid.Bool().Draw(t, "cost") {
			config.Cost = preemption.CostByAge{}
		}
		p, err := preemption.New(config)
		if err != nil {
			t.Fatal(err)
		}
		s, err := preemption.NewSnapshot(record.State)
		if err != nil {
			t.Fatal(err)
		}
		e, err := explain.Explain(p, s, *record.Request)
		if err != nil {
			t.Fatal(err)
		}
		checkSteps(t, e)
	})
}
