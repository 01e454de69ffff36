package preemption_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
)

// "A certificate shows LowerBound, or that no set is allowed": Verify accepts each, and by all
// sets no allowed one is below the bound.
func certificatesHold(t *rapid.T) {
	records := preemptiontest.Records()
	if rapid.IntRange(0, 9).Draw(t, "crowd") == 0 {
		records = rapid.Custom(func(t *rapid.T) preemption.Record {
			st, r := crowd(t)
			return preemption.Record{State: st, Request: &r}
		})
	}
	config, st, r := drawSearched(t, records)
	r.Room = drawRoom(t, st)
	config.Search, config.SkipRetryAt = preemption.Exact, true
	config.Exact.Certificate = true
	config.Exact.IgnoreCaps = rapid.IntRange(0, 3).Draw(t, "ignore caps") == 0
	config.Cost = drawCost(t, &st)
	config.Exact.FewestFirst = config.Cost != nil && rapid.Bool().Draw(t, "fewest first")
	few := rapid.IntRange(0, 3).Draw(t, "few nodes") == 0
	if few {
		config.Exact.MaxNodes = rapid.IntRange(1, 5).Draw(t, "nodes")
	}
	s := snapshotOf(t, st)
	d := decideWith(t, config, s, r)
	if err := verify.Decision(st, r, config, d); err != nil {
		proof, _ := json.Marshal(d.Proof)
		t.Fatalf("%+v\n%s\n%v", d, proof, err)
	}
	if d.Proof == nil {
		return
	}
	c := d.Proof.Certificate
	if c == nil {
		if (d.Proof.Optimal || d.Proof.LowerBound > 0) && d.Proof.Nodes < 1000 { // else its tree may be too large
			t.Fatalf("no certificate: %+v", *d.Proof)
		}
		return
	}
	if large := d.Proof.Nodes > 1000; len(d.Victims) > 0 && c.Bound != d.Proof.LowerBound && !large {
		t.Fatalf("the certificate shows %d of %+v", c.Bound, *d.Proof)
	}
	var caps []preemption.Victim
	if !config.Exact.IgnoreCaps {
		greedy := config
		greedy.Search, greedy.Exact, greedy.Fair.RecheckShares = preemption.Greedy, preemption.ExactSearch{}, config.Sharing == preemption.Fair && !config.Fair.Stable
		caps = decideWith(t, greedy, s, r).Victims
	}
	order, cost := goals(config.Cost, config.Exact.FewestFirst, st, r.Now)
	want := exhaust(config, st, r, caps, cost, order)
	if want.Candidates > mostExhausted {
		return
	}
	if best := want.Values[order[0]]; len(want.Victims) > 0 && len(d.Victims) == 0 || c.Bound > best {
		t.Fatalf("it shows %d, but all sets find %d with %v", c.Bound, best, want.Victims)
	}
}

func TestCertificatesHold(t *testing.T) { rapid.Check(t, certificatesHold) }
func FuzzCertificatesHold(f *testing.F) { f.Fuzz(rapid.MakeFuzz(certificatesHold)) }
