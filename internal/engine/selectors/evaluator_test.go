package selectors_test

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// New refuses what makes a name ambiguous, more than the largest numbers, and what queue.Validate finds;
// nothing else.
func TestNew(t *testing.T) {
	for want, err := range map[string]error{
		`queues[0].cohort: unknown cohort "gone" (queue "q")`:                            newOf([]queue.Queue{{Name: "q", Cohort: "gone"}}),
		`configs[1].name: is empty; configs[2].name: "x" is also the name of configs[0]`: newOf(nil, rules.Config{Name: "x"}, rules.Config{}, rules.Config{Name: "x"}),
		"": newOf(nil, rules.Config{Name: "x", Rules: []rules.Rule{{Name: "NO"}}}),
	} {
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func newOf(queues []queue.Queue, configs ...rules.Config) error {
	_, err := selectors.New(nil, queues, configs)
	return err
}

// A long list of values is read to its end.
func TestLongLists(t *testing.T) {
	const n = 20_000
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprint(i)
	}
	few := rules.Config{Name: "few", Rules: []rules.Rule{{Name: "r", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{
		{Scope: rules.AnyClusterQueue, LabelSelector: &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "k", Operator: workload.In, Values: values}}}},
	}}}}
	e, err := selectors.New(nil, []queue.Queue{{Name: "q", Rules: "few"}}, []rules.Config{few})
	if err != nil {
		t.Fatal(err)
	}
	tier, err := e.Tier(rules.Always, &workload.Workload{Queue: "q"})
	for value, want := range map[string]bool{"0": true, "19999": true, "20000": false} {
		if w := (workload.Workload{Queue: "q", Labels: map[string]string{"k": value}}); err != nil || tier.Accepts(&w, selectors.Moment{}) != want {
			t.Errorf("%s: %v, %v", value, !want, err)
		}
	}
}
