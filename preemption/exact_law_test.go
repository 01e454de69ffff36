package preemption_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/proof/twin"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// "The best allowed set": the exact search finds what trying all sets finds, in every mode,
// and says that it is the best.
func exactIsBest(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	config := preemptiontest.Configs().Draw(t, "config")
	st, r := record.State, *record.Request
	r.Room = drawRoom(t, st)
	config.Search, config.SkipRetryAt = preemption.Exact, true
	config.Exact.IgnoreCaps = rapid.IntRange(0, 3).Draw(t, "ignore caps") == 0
	config.Exact.MaxNodes = 1_000_000_000
	greedy := config
	greedy.Search, greedy.Exact, greedy.Fair.RecheckShares = preemption.Greedy, preemption.ExactSearch{}, config.Sharing == preemption.Fair
	var caps []preemption.Victim
	s := snapshotOf(t, st)
	if !config.Exact.IgnoreCaps {
		caps = decideWith(t, greedy, s, r).Victims
	}
	want := twin.Exhaust(config, st, r, caps, nil, []int{1, 2, 3})
	if want.Candidates > twin.MostExhausted {
		t.Skip("too many candidates")
	}
	got := decideWith(t, config, s, r)
	if want.Fits != (got.Outcome == preemption.Fits) {
		t.Fatalf("%v, want fits: %t", got.Outcome, want.Fits)
	}
	if diff := cmp.Diff(want.Victims, got.Victims, sameDecision, cmpopts.IgnoreFields(preemption.Victim{}, "Order")); diff != "" {
		t.Fatalf("-all sets +exact:\n%s", diff)
	}
	if p := got.Proof; p != nil && (!p.Optimal || p.Value != int64(len(want.Victims)) || p.LowerBound != p.Value) {
		t.Fatalf("proof %+v of %d victims", *p, len(want.Victims))
	}
}

func TestExactIsBest(t *testing.T) { rapid.Check(t, exactIsBest) }
func FuzzExactIsBest(f *testing.F) { f.Fuzz(rapid.MakeFuzz(exactIsBest)) }

// Verify has nothing against decisions of the exact search, at any time.
func exactDecisionsVerify(t *rapid.T) {
	records := preemptiontest.Records()
	if rapid.IntRange(0, 4).Draw(t, "without flavors") == 0 {
		records = preemptiontest.RecordsWithoutFlavors()
	}
	record := records.Draw(t, "record")
	config := preemptiontest.Configs().Draw(t, "config")
	config.Search = preemption.Exact
	st, r := record.State, *record.Request
	r.Room = drawRoom(t, st)
	s := snapshotOf(t, st)
	d := decideWith(t, config, s, r)
	if err := preemption.Verify(st, r, config, d); err != nil {
		t.Fatalf("%+v\n%v", d, err)
	}
	explained, err := preemptorOf(config).Explain(s, r)
	if diff := cmp.Diff(d, explained.Decision, sameDecision); err != nil || diff != "" {
		t.Fatalf("%v -Decide +Explain:\n%s", err, diff)
	}
}

func TestExactDecisionsVerify(t *testing.T) { rapid.Check(t, exactDecisionsVerify) }
func FuzzExactDecisionsVerify(f *testing.F) { f.Fuzz(rapid.MakeFuzz(exactDecisionsVerify)) }
