package witness_test

import (
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
	searches(t, preemption.Classical, preemption.Fair)
}

// TestStable: the same with Stable sharing, where Greedy's victims are an allowed set, too, of which nobody could
// stay.
func TestStable(t *testing.T) {
	searches(t, preemption.Stable)
}

func searches(t *testing.T, ways ...preemption.Sharing) {
	said := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range each {
			q := questions(func(c *preemption.Config) {
				c.Sharing = rapid.SampledFrom(ways).Draw(t, "sharing")
				c.Compat.Kueue016 = c.Compat.Kueue016 && c.Sharing == preemption.Fair
				if c.Sharing == preemption.Classical {
					c.Strategies = nil
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

// mostUnits bounds the sets that are looked at.
const mostUnits = 9

// best asks for the best victims, and looks whether some are better.
func best(t *rapid.T, q question) string {
	r := *q.Record.Request
	d := decide(t, q.Config, q.Record)
	switch {
	case d.Proof == nil:
		return "no proof"
	case !d.Proof.Optimal:
		return "not proven"
	}
	greedy := q.Config
	greedy.Search, greedy.Best = preemption.Greedy, preemption.BestSearch{}
	taken := decide(t, greedy, q.Record)
	if q.Config.Sharing == preemption.Stable && taken.Outcome == preemption.Preempt {
		allowed, reducible, small := witness.Allowed(q.Config, q.Record.State, r, taken.Victims, mostUnits)
		if small && (!allowed || reducible) {
			differs(t, q, "Greedy takes %+v: allowed %v, reducible %v", taken.Victims, allowed, reducible)
		}
	}
	least, kept, small := witness.Best(q.Config, q.Record.State, r, mostUnits)
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
	case least.Compare(v, q.Config.Best.FewestFirst) == 0 && d.Proof.Value == main && d.Proof.LowerBound == main && d.Lost == v.Lost:
		return "best"
	}
	differs(t, q, "the engine has %+v %+v %+v %v, the best is %+v", v, d.Proof, d.Victims, d.Outcome, least)
	return ""
}
