package preemption_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
)

func readJSON[T any](t *testing.T, name string) (v T) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// "RulesAlone: rules decide in place of the policies": neither do the policies say when, whatever the search.
func TestRetryAtByRulesAlone(t *testing.T) {
	record := readJSON[preemption.Record](t, "rules-alone-exact.json")
	for _, search := range []preemption.Search{preemption.Greedy, preemption.Exchange, preemption.Exact} {
		config := preemption.Config{RulesAlone: true, Search: search}
		d := decideWith(t, config, snapshotOf(t, record.State), *record.Request)
		if d.Outcome != preemption.Impossible {
			t.Errorf("%v: %v at %v, but no rule ever permits anybody", search, d.Outcome, d.RetryAt)
		}
		if err := verify.Decision(record.State, *record.Request, config, d); err != nil {
			t.Errorf("%v: %v", search, err)
		}
	}
}

// Stable fair sharing keeps w02 from policies: a rule took it, and Verify refuses the reason of a policy.
func TestVerifyStableBesideRules(t *testing.T) {
	q := readJSON[struct {
		Record   preemption.Record
		Decision preemption.Decision
	}](t, "verify-stable-by-rules.json")
	config := preemption.Config{
		Sharing: preemption.Fair, Fair: preemption.FairSharing{Stable: true}, ReconsiderLarger: true, MaxRuleLooks: 1,
		Cost:       preemption.CostByAge{},
		Guards:     []preemption.Guard{preemptiontest.ByUID{Never: "none", Until: "u0", Time: preemptiontest.Now.Add(time.Hour)}},
		Protection: minruntime.Protection{Preempt: 14 * time.Minute, Reclaim: 20 * time.Minute, FairSharing: 10 * time.Minute, From: minruntime.Reservation},
	}
	st, r := q.Record.State, *q.Record.Request
	d := decideWith(t, config, snapshotOf(t, st), r)
	if err := verify.Decision(st, r, config, d); err != nil {
		t.Errorf("the decision: %v", err)
	}
	for i := range d.Victims {
		if v := &d.Victims[i]; v.Workload == "w02" && v.Reason == preemption.ConfigurablePreemption {
			v.Reason = preemption.InClusterQueue
			if err := verify.Decision(st, r, config, d); err == nil {
				t.Error("a rule's victim passes with the reason of a policy that does not permit it")
			}
			return
		}
	}
	t.Errorf("no rule takes w02: %+v", d.Victims)
}

// "At that instant the request fits or preempts": a cost that grows with time is that of the instant, also
// where flavors are assigned anew.
func TestRetryAtWithACostThatGrows(t *testing.T) {
	record := readJSON[preemption.Record](t, "flavors-exact-limits.json")
	for _, cost := range []preemption.Cost{preemption.CostByAge{}, preemption.CostSinceCheckpoint{}} {
		config := preemption.Config{
			Search: preemption.Exact, Cost: cost, Exact: preemption.ExactSearch{FewestFirst: true, IgnoreCaps: true, Certificate: true},
			Limits: []limits.Limit{{Name: "l0", Scope: limits.Global, Limit: 2, Window: quota.Some(4 * time.Minute)}},
		}
		s, r := snapshotOf(t, record.State), *record.Request
		d := decideWith(t, config, s, r)
		if d.Outcome != preemption.Wait {
			continue
		}
		r.Now = d.RetryAt
		if at := decideWith(t, config, s, r); !at.Outcome.Possible() {
			t.Errorf("%T: Wait until %v, and then %v", cost, d.RetryAt, at.Outcome)
		}
	}
}
