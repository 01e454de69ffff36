package main

import (
	"fmt"
	"strings"
	"testing"
)

// The tree says what is free to each queue: nothing to a queue in a flavor that it does not have, nothing over what
// there is, and usage that members keep to themselves is explained.
func TestTreeNumbers(t *testing.T) {
	state := func(more, admitted string) string {
		return `{"cohorts":[{"name":"root"},{"name":"low","parent":"root"}],"queues":[
			{"name":"a","cohort":"low","quotas":[{"flavor":"f","resource":"gpu","nominal":8` + more + `}]},
			{"name":"b","cohort":"root","quotas":[{"flavor":"f","resource":"gpu","nominal":8}]},
			{"name":"other","cohort":"root","quotas":[{"flavor":"g","resource":"gpu","nominal":8}]}],"admitted":[` + admitted + `]}`
	}
	runs := func(id, queue string, n int) string {
		return fmt.Sprintf(`{"id":%q,"queue":%q,"podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"gpu","amount":%d}]}]}`, id, queue, n)
	}
	const keeps = "A cohort's usage leaves out what its members use of quota that they do not lend."
	for _, c := range []struct {
		name, state string
		want        []string
		not         string
	}{
		{"a flavor that a queue does not have", state("", ""), []string{"\n  other            ", "\n  b <- asks     f/gpu                0        8         -         16"}, keeps},
		{"over what there is", state("", runs("x", "a", 12)+","+runs("y", "b", 8)), []string{"Cohort root uses 4 of f/gpu more than it has.", "20       16         4          0"}, "-4"},
		{"quota that is not lent", state(`,"lendingLimit":2`, runs("x", "a", 7)), []string{keeps, "low (cohort)  f/gpu                1        2"}, "more than it has"},
	} {
		_, stdout, stderr := call(strings.NewReader(c.state), "-request", "gpu=4", "-queue", "b", "-flavor", "f")
		for _, want := range c.want {
			if !strings.Contains(stdout, want) || strings.Contains(stdout, c.not) {
				t.Errorf("%s: want %q, not %q:\n%s%s", c.name, want, c.not, stdout, stderr)
			}
		}
	}
}

// What a queue borrows in another flavor is not said to be within its nominal quota.
func TestBorrowsSomethingElse(t *testing.T) {
	const state = `{"cohorts":[{"name":"c"}],"queues":[{"name":"a","cohort":"c","quotas":[{"flavor":"f","resource":"gpu","nominal":4},{"flavor":"g","resource":"gpu","nominal":0}]},
		{"name":"b","cohort":"c","quotas":[{"flavor":"g","resource":"gpu","nominal":4}]}],
		"admitted":[{"id":"x","queue":"a","podSets":[{"name":"main","count":1,"requests":[{"flavor":"g","resource":"gpu","amount":2}]}]}]}`
	_, stdout, _ := call(strings.NewReader(state), "-request", "gpu=4", "-queue", "a", "-flavor", "f")
	if !strings.Contains(stdout, "Its queue stays within its nominal quota of what it asks for.") {
		t.Error(stdout)
	}
	_, stdout, _ = call(strings.NewReader(strings.Replace(state, `"amount":2`, `"amount":0`, 1)), "-request", "gpu=4", "-queue", "a", "-flavor", "f")
	if !strings.Contains(stdout, "Its queue stays within its nominal quota.\n") {
		t.Error(stdout)
	}
}
