package witness_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// TestBest: no allowed set is better than the engine's Best, which has the proof, and its Proof tells the
// truth. The witness looks at all sets of few units.
func TestBest(t *testing.T) {
	said := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range each {
			q := questions(func(c *preemption.Config) {
				c.Sharing = rapid.SampledFrom([]preemption.Sharing{preemption.Classical, preemption.Fair}).Draw(t, "sharing")
				if c.Sharing == preemption.Classical {
					c.Strategies, c.Compat.Kueue016 = nil, false
				}
				c.Search, c.Best = preemption.Best, preemption.BestSearch{FewestFirst: rapid.Bool().Draw(t, "fewest first")}
				c.Cost = rapid.SampledFrom([]preemption.Cost{nil, nil, preemption.CostByAge{}}).Draw(t, "cost")
			}).Draw(t, "question")
			said[best(t, q)]++
		}
	})
	t.Log(said)
	for _, one := range []string{"best", "none"} {
		if said[one] == 0 {
			t.Errorf("no answer was %q", one)
		}
	}
}

// best asks for the best victims, and looks whether some are better.
func best(t *rapid.T, q question) string {
	r := *q.Record.Request
	snapshot, err := preemption.NewSnapshot(q.Record.State)
	if err != nil {
		t.Fatal(err)
	}
	preemptor, err := preemption.New(q.Config)
	if err != nil {
		t.Fatal(err)
	}
	d, err := preemptor.Decide(snapshot, r)
	if err != nil {
		t.Fatal(err)
	}
	if d.Proof == nil {
		return "no proof"
	}
	if !d.Proof.Optimal {
		return "not proven"
	}
	least, kept, small := witness.Best(q.Config, q.Record.State, r)
	if kept != nil {
		least = kept
	}
	v := witness.ValueOf(q.Config, r, d.Victims, func(id string) workload.Workload {
		return q.Record.State.Admitted[slices.IndexFunc(q.Record.State.Admitted, func(w workload.Workload) bool { return w.ID == id })]
	})
	main := v.Lost
	if q.Config.Cost == nil || q.Config.Best.FewestFirst {
		main = v.Victims
	}
	switch {
	case !small:
		return "too many units"
	case (least == nil) != (len(d.Victims) == 0):
	case least == nil:
		return "none"
	case least.Compare(v, q.Config.Best.FewestFirst) != 0 || d.Proof.Value != main || d.Proof.LowerBound != main || d.Lost != v.Lost:
	case kept == nil:
		return "best of all"
	default:
		return "best"
	}
	record, err := json.Marshal(q.Record)
	if err != nil {
		t.Fatal(err)
	}
	t.Fatalf("%+v\n%s\nthe engine has %+v %+v %+v %v, the best is %+v", q.Config, record, v, d.Proof, d.Victims, d.Outcome, least)
	return ""
}
