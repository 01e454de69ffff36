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

// Rules that say the same as policies look at no more than three times as many workloads in every
// scenario; and 64 rules of 32 selectors that match nobody but for one at no more than twice as many as
// this one alone. Where there are victims, they ask whether the request fits at most half as often again.
func TestStepsOfRules(t *testing.T) {
	protected, flavors := scenario.Hard[2], scenario.Hard[1]
	protected.Queues, protected.Group, protected.Each, flavors.Each = 10, 10, 400, 100
	for _, sharing := range []preemption.Sharing{preemption.Classical, preemption.Fair} {
		c := preemption.Config{Sharing: sharing}
		for _, w := range []scenario.World{scenario.Worlds[0], scenario.Worlds[1], scenario.Worlds[5], protected, flavors} {
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
				if len(d.Victims) > 0 {
					checked++
				}
				looks := 3
				if d.Outcome == preemption.Wait { // the first instant at which the quota suffices is tried, too
					looks = 4
				}
				a, b, c := count(p, sPolicies), count(byRules, sOne), count(byRules, s64)
				if b.Workloads > looks*a.Workloads || c.Workloads > 2*b.Workloads || len(d.Victims) > 0 && 2*b.Trials > 3*a.Trials {
					t.Errorf("%v, %s, %s: %+v by policies, %+v by rules, %+v by 64 rules", sharing, w.ID, sc.Name, a, b, c)
				}
			}
			if checked < 10 {
				t.Errorf("%v, %s: only %d scenarios with victims", sharing, w.ID, checked)
			}
		}
	}
}

// Where rules order by the shares of queues, a decision looks at the victims, at the queues of these and at
// few others, whether there are ten queues or a thousand: in one cohort two looks for each victim, in a tree
// also at the cohorts above. So it does when some of the victims are of the own queue.
func TestStepsOfRulesByShare(t *testing.T) {
	c := preemption.Config{Sharing: preemption.Fair}
	flat := func(queues int) scenario.World {
		return scenario.World{ID: fmt.Sprint(queues, " queues"), Queues: queues, Group: queues, Each: 40}
	}
	for _, w := range []scenario.World{flat(10), flat(100), flat(1000), scenario.Worlds[5], scenario.Worlds[6]} {
		st, config := asrules.Of(w.State(), c)
		s, p := snapshotOf(t, st), preemptorOf(config)
		checked := 0
		for _, sc := range w.Scenarios() {
			if sc.Outcome != preemption.Preempt {
				continue
			}
			d, err := p.Decide(s, sc.Request)
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Victims) == 0 {
				continue // fewer queues than victims
			}
			checked++
			_, n, err := p.Work(s, sc.Request)
			if err != nil {
				t.Fatal(err)
			}
			workloads, nodes := 2*len(d.Victims)+2, len(d.Victims)+5
			if w.Leaves > 0 {
				workloads, nodes = 3*len(d.Victims)+9, 2*len(d.Victims)+9
			}
			if n.Workloads > workloads || n.Nodes > nodes {
				t.Errorf("%s, %s: %+v for %d victims, want at most %d workloads and queues, and %d nodes", w.ID, sc.Name, n, len(d.Victims), workloads, nodes)
			}
		}
		if checked < 10 {
			t.Errorf("%s: only %d scenarios with victims", w.ID, checked)
		}
	}
}

// Where rules accept everybody of other queues, whether these borrow or not, a decision looks at its victims
// and at the queues and cohorts of these, however many queues there are; if sums refuse it, at nobody.
func TestStepsOfRulesWithoutConstraint(t *testing.T) {
	p := preemptorOf(preemption.Config{RulesAlone: true})
	for _, w := range []scenario.World{scenario.Worlds[2], scenario.Worlds[6]} {
		for _, scope := range []rules.Scope{rules.WithinCohortTree, rules.AnyClusterQueue} {
			st := w.State()
			st.Rules = []rules.Config{{Name: "c", Rules: []rules.Rule{{
				Name: "lower", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always},
				CandidateSelectors: []rules.CandidateSelector{{Scope: scope, Priority: rules.Priority{Mode: rules.Boosted, Comparison: rules.LessThan}}},
			}}}}
			for i := range st.Queues {
				st.Queues[i].Rules = "c"
			}
			s, refused, trees := snapshotOf(t, st), 0, 1
			if scope == rules.AnyClusterQueue && w.Leaves == 0 {
				trees = w.Queues / w.Group
			}
			for _, sc := range w.Scenarios() {
				d, err := p.Decide(s, sc.Request)
				if err != nil {
					t.Fatal(err)
				}
				_, n, err := p.Work(s, sc.Request)
				if err != nil {
					t.Fatal(err)
				}
				if !d.Possible() {
					refused++
				}
				// Others of the same priority in each tree come before the last victim.
				if most := trees * (3*len(d.Victims) + 9); n.Workloads > most {
					t.Errorf("%s, %s, %s: %+v for %d victims, want at most %d", w.ID, scope, sc.Name, n, len(d.Victims), most)
				}
			}
			if refused == 0 {
				t.Errorf("%s, %s: nothing is refused", w.ID, scope)
			}
		}
	}
}

// A request that is hopeless by rules is searched for once, and no instant is tried of which sums, or all
// who may be accepted up to then, prove that it is too early.
func TestStepsOfRulesThatWait(t *testing.T) {
	protected := scenario.Hard[2]
	protected.Queues, protected.Group = 10, 10
	for _, w := range []scenario.World{scenario.Worlds[0], protected} {
		st, _, config := asRules(w.State(), preemption.Config{})
		s, p, both := snapshotOf(t, st), preemptorOf(config), preemptorOf(preemption.Config{})
		for _, sc := range w.Scenarios() {
			want, ok := stepsOfWaits[w.ID+" "+sc.Name]
			if !ok {
				continue
			}
			d, err := p.Decide(s, sc.Request)
			if err != nil {
				t.Fatal(err)
			}
			_, n, err := p.Work(s, sc.Request)
			if err != nil {
				t.Fatal(err)
			}
			if d.Outcome != sc.Outcome || n.Workloads != want {
				t.Errorf("%s, %s: %v after a look at %d workloads, want %v after %d", w.ID, sc.Name, d.Outcome, n.Workloads, sc.Outcome, want)
			}
			if _, n, err := both.Work(s, sc.Request); err != nil || sc.Outcome == preemption.Impossible && n.Workloads > 2*want+10 {
				t.Errorf("%s, %s: %d looks by policies, then rules; by rules alone %d (%v)", w.ID, sc.Name, n.Workloads, want, err)
			}
		}
	}
}

var stepsOfWaits = map[string]int{
	"f1-1k-10-1 infeasible-reclaim":           1,
	"f1-1k-10-1 infeasible-within":            1,
	"f1-1k-10-1 infeasible-borrow":            1,
	"protected-100k-100-1 infeasible-reclaim": 12,
	"protected-100k-100-1 infeasible-within":  2,
	"protected-100k-100-1 infeasible-borrow":  2,
	"protected-100k-100-1 wait-within":        2255,
}

// What a decision by rules allocates does not grow with its victims: these, their rules and the
// selectors of these, the tier, the triggers, and what putting back asks.
func TestDecideByRulesAllocatesItsResult(t *testing.T) {
	w := worlds[0]
	one, by64, config := asRules(w.State(), preemption.Config{})
	for name, st := range map[string]preemption.State{"one rule": one, "64 rules": by64} {
		s, p := snapshotOf(t, st), preemptorOf(config)
		checked := 0
		for _, q := range questions(w) {
			decide := deciding(t, p, s, q.request)
			d := decide() // fills the pool
			if len(d.Victims) == 0 || len(d.Victims[0].Rules) == 0 {
				continue
			}
			checked++
			if n := testing.AllocsPerRun(100, func() { decide() }); n > 5 && !raceEnabled {
				t.Errorf("%s, %s: %v allocations for %d victims, want 5", name, q.name, n, len(d.Victims))
			}
		}
		if checked < 4 {
			t.Errorf("%s: only %d with victims", name, checked)
		}
	}
}
