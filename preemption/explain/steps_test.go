package explain_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// checkSteps: the steps say each line of the page, and those who are taken at the end are the
// victims.
func checkSteps(t interface{ Errorf(string, ...any) }, e explain.Explanation) {
	wide := explain.Printer{Width: -1}
	steps := wide.Steps(e)
	var said []string
	for _, s := range steps {
		said = append(append(said, s.Title), s.Lines...)
	}
	all := strings.Join(said, "\n")
	for _, line := range strings.Split(wide.Text(e), "\n") {
		line = strings.TrimSpace(line)
		if node, _, isLevel := strings.Cut(line, " ("); isLevel && strings.Contains(all, "Who may yield in "+node) {
			line = node
		}
		line = strings.TrimSuffix(strings.TrimPrefix(line, "1. "), ": no workload runs there")
		_, title, numbered := strings.Cut(line, ". the queue")
		if numbered {
			line = "the queue" + title
		}
		switch line {
		case "Flavors", "Who may yield", "What was tried", "What is better":
		default:
			if !strings.Contains(all, line) {
				t.Errorf("no step says %q:\n%s", line, all)
			}
		}
	}
	var victims []string
	for _, v := range e.Decision.Victims {
		victims = append(victims, v.Workload)
	}
	end := slices.IndexFunc(steps, func(s explain.Step) bool { return s.Title == "The answer" })
	if end < 0 {
		t.Errorf("there is no answer in %q", said)
		return
	}
	if diff := cmp.Diff(victims, steps[end].Taken); diff != "" {
		t.Errorf("- victims, + taken at the end:\n%s", diff)
	}
	last := steps[len(steps)-1]
	if e.Decision.Outcome.Succeeds() != (last.Title == "The answer") || !cmp.Equal(e.Ways, last.Ways) || len(last.Lines) < len(last.Ways) {
		t.Errorf("the last step is %+v, the ways are %+v", last, e.Ways)
	}
}

func TestSteps(t *testing.T) {
	for name, e := range samples(t) {
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

// The form in JSON is short where a step names nobody.
func TestStepJSON(t *testing.T) {
	data, err := json.Marshal(explain.Step{Title: "The flavors"})
	if err != nil || string(data) != `{"title":"The flavors"}` {
		t.Errorf("%s, %v", data, err)
	}
}
