package preemption_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// "The search ends if no exchange is left", "the answer is never worse than Greedy's": of all
// exchanges of the answer none is better, in every mode.
func noExchangeIsLeft(t *rapid.T) {
	config, st, r := drawSearched(t, preemptiontest.Records())
	r.Room = drawRoom(t, st)
	config.Search, config.Best.Steps, config.MaxRetrySteps = preemption.Best, -1, -1
	config.Cost = drawCost(t, &st)
	config.Best.FewestFirst = config.Cost != nil && rapid.Bool().Draw(t, "fewest first")
	s := snapshotOf(t, st)
	before, got := inOrder(config, st, r), decideWith(t, config, s, r)
	if before.Outcome != timeless(got).Outcome {
		t.Fatalf("%v, Greedy's %v", got.Outcome, before.Outcome)
	}
	if len(got.Victims) == 0 || leavingAlone(got) {
		t.Skip("nobody yields")
	}
	order, cost := goals(config.Cost, config.Best.FewestFirst, st, r.Now)
	want := exchange(config, st, r, before.Victims, got.Victims, cost, order)
	changed := cmp.Diff(before.Victims, got.Victims, sameDecision, cmpopts.IgnoreFields(preemption.Victim{}, "Lost"))
	switch {
	case want.Candidates > mostExhausted:
		t.Skip("too many candidates")
	case !want.Greedy && changed != "", want.Values == want.GreedyValues && changed != "":
		t.Fatalf("-Greedy's +those of an exchange that gains nothing:\n%s", changed)
	case want.Worse:
		t.Fatalf("worse than Greedy's, %v, want at most %v:\n%s", want.Values, want.GreedyValues, changed)
	case len(want.Better) > 0:
		t.Fatalf("an exchange is left: %v, better is\n%s", got.Victims, cmp.Diff(got.Victims, want.Better))
	}
	if got.Lost != want.Values[0] && want.Greedy {
		t.Fatalf("%d is lost, want %d", got.Lost, want.Values[0])
	}
}

func TestNoExchangeIsLeft(t *testing.T) { rapid.Check(t, noExchangeIsLeft) }
