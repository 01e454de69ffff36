package preemption_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/asrules"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// nobody returns the most rules there may be, besides n others: each has as many selectors as it may,
// which match nobody.
func nobody(n int) (list []rules.Rule) {
	for i := n; i < rules.MaxRules; i++ {
		r := rules.Rule{Name: "r" + strconv.Itoa(i), ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}}
		for j := range rules.MaxSelectors {
			s := rules.CandidateSelector{Scope: rules.AnyClusterQueue}
			if name := fmt.Sprint("none-", i, "-", j); j%2 == 0 {
				s.LabelSelector = &workload.LabelSelector{MatchLabels: map[string]string{"team": name}}
			} else {
				s.Priority.ClassSelector.MatchNames = []string{name}
			}
			r.CandidateSelectors = append(r.CandidateSelectors, s)
		}
		list = append(list, r)
	}
	return list
}

// asRules returns a state decided by rules that say what its policies say; by64 adds rules that match
// nobody.
func asRules(st preemption.State, c preemption.Config) (one, by64 preemption.State, config preemption.Config) {
	one, config = asrules.Of(st, c)
	by64 = one
	by64.Rules = nil
	for _, of := range one.Rules {
		of = of.Clone()
		of.Rules = append(of.Rules, nobody(len(of.Rules))...)
		by64.Rules = append(by64.Rules, of)
	}
	return one, by64, config
}

// Rules that say the same as policies look at each workload of the queues that they reach, a few times. Where
// there are victims, they ask at most half as often again whether the request fits, and 64 rules of 32
// selectors that match nobody but for one ask as often as this one alone.
func TestStepsOfRules(t *testing.T) {
	for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
		c := preemption.Config{Sharing: sharing}
		for _, w := range []scenario.World{scenario.Worlds[0], scenario.Worlds[5]} {
			policies := w.State()
			one, by64, config := asRules(w.State(), c)
			sPolicies, sOne, s64 := snapshotOf(t, policies), snapshotOf(t, one), snapshotOf(t, by64)
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
				d, err := byRules.Decide(sOne, sc.Request)
				if err != nil {
					t.Fatal(err)
				}
				if d.Outcome == preemption.Wait {
					continue // as often for each instant
				}
				most := 4 * len(policies.Admitted)
				a, b := count(p, sPolicies), count(byRules, sOne)
				if b.Workloads > most || len(d.Victims) > 0 && 2*b.Trials > 3*a.Trials {
					t.Errorf("%v, %s, %s: %+v by policies, %+v by rules", sharing, w.ID, sc.Name, a, b)
				}
				if len(d.Victims) == 0 {
					continue
				}
				if checked++; checked > 4 {
					continue
				}
				if c := count(byRules, s64); c.Workloads > most || c.Trials != b.Trials {
					t.Errorf("%v, %s, %s: %+v by rules, %+v by 64 rules", sharing, w.ID, sc.Name, b, c)
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
	one, _, config := asRules(w.State(), preemption.Config{})
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
