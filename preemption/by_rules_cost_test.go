package preemption_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/asrules"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

// Rules that say the same as policies look at each workload of the queues that they reach, a few times. Where
// there are victims, they ask at most half as often again whether the request fits.
func TestStepsOfRules(t *testing.T) {
	for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
		c := preemption.Config{Sharing: sharing}
		for _, w := range []scenario.World{scenario.Worlds[0], scenario.Worlds[5]} {
			policies := w.State()
			ruled, config := asrules.Of(w.State(), c)
			sPolicies, sOne := snapshotOf(t, policies), snapshotOf(t, ruled)
			p, byRules := preemptorOf(c), preemptorOf(config)
			checked := 0
			for _, sc := range w.Scenarios() {
				if sc.ClassicalOnly && sharing == preemption.Fair {
					continue
				}
				count := func(p *preemption.Preemptor, s *preemption.Snapshot) preemption.Work {
					_, n, err := p.Work(s, sc.Request)
					if err != nil {
						t.Fatal(err)
					}
					return n
				}
				d := must(byRules.Decide(sOne, sc.Request))(t)
				if d.Outcome == preemption.Wait {
					continue // as often for each instant
				}
				most := 4 * len(policies.Admitted)
				a, b := count(p, sPolicies), count(byRules, sOne)
				if b.Workloads > most || len(d.Victims) > 0 && 2*b.Trials > 3*a.Trials {
					t.Errorf("%v, %s, %s: %+v by policies, %+v by rules", sharing, w.ID, sc.Name, a, b)
				}
				if len(d.Victims) > 0 {
					checked++
				}
			}
			if checked < 10 {
				t.Errorf("%v, %s: only %d scenarios with victims", sharing, w.ID, checked)
			}
		}
	}
}

// What a decision by rules allocates does not grow with its victims: these, their rules and the
// selectors of these, the tier, the triggers, and what putting back asks.
func TestDecideByRulesAllocatesItsResult(t *testing.T) {
	w := worlds[0]
	one, config := asrules.Of(w.State(), preemption.Config{})
	s, p := snapshotOf(t, one), preemptorOf(config)
	checked := 0
	for _, q := range questions(w) {
		decide := deciding(t, p, s, q.request)
		d := decide() // fills the pool
		if len(d.Victims) == 0 || len(d.Victims[0].Rules) == 0 {
			continue
		}
		checked++
		if n := testing.AllocsPerRun(10, func() { decide() }); n > 5 && !raceEnabled {
			t.Errorf("%s: %v allocations for %d victims, want 5", q.name, n, len(d.Victims))
		}
	}
	if checked < 4 {
		t.Errorf("only %d with victims", checked)
	}
}
