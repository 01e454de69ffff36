package preemption_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/proof/twin"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/rules"
	"github.com/cedesched/cede/workload"
)

// drawRules draws rules that mostly accept somebody, and labels for the workloads.
func drawRules(t *rapid.T, st *preemption.State, w *workload.Workload) rules.Config {
	label := func(w *workload.Workload) {
		if size := rapid.IntRange(0, 3).Draw(t, "size"); size > 0 {
			w.Labels = map[string]string{"size": strconv.Itoa(size)}
		}
	}
	label(w)
	for i := range st.Admitted {
		label(&st.Admitted[i])
	}
	for i := range st.Queues {
		st.Queues[i].Rules = "rules"
		if rapid.Bool().Draw(t, "rules alone") {
			st.Queues[i].Preemption = queue.PreemptionPolicy{}
		}
	}
	config := rules.Config{Name: "rules"}
	for i := range rapid.IntRange(1, 3).Draw(t, "rules") {
		r := rules.Rule{Name: "r" + strconv.Itoa(i), ActivationPolicy: rules.ActivationPolicy{Trigger: rapid.SampledFrom(rules.Triggers()).Draw(t, "trigger")}}
		for range rapid.IntRange(1, 2).Draw(t, "selectors") {
			s := rules.CandidateSelector{Scope: rapid.SampledFrom([]rules.Scope{
				rules.AnyClusterQueue, rules.AnyClusterQueue, rules.WithinCohortTree, rules.WithinParentCohort, rules.WithinClusterQueue, rules.WithinLocalQueue,
			}).Draw(t, "scope")}
			switch rapid.IntRange(0, 4).Draw(t, "part") {
			case 0:
				s.NumericLabels = []rules.NumericLabel{{Key: "size", Comparison: rules.LessThanOrEqual}}
			case 1:
				s.Priority = rules.Priority{Mode: rules.Boosted, Comparison: rules.LessThanOrEqual}
			case 2:
				s.LabelSelector = &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "size", Operator: workload.DoesNotExist}}}
			}
			if rapid.IntRange(0, 99).Draw(t, "bad") == 0 {
				s.Scope = "bad"
			}
			r.CandidateSelectors = append(r.CandidateSelectors, s)
		}
		config.Rules = append(config.Rules, r)
	}
	return config
}

// A decision by rules is that of the slow twin; its victims make room, and none can be spared.
func decidesByRules(t *rapid.T, reached map[string]int) {
	record := preemptiontest.Records().Draw(t, "record")
	st, r := record.State, *record.Request
	config := preemptiontest.Configs().Draw(t, "config")
	r.Room = drawRoom(t, st)
	rule := drawRules(t, &st, &r.Workload)
	policies := decideWith(t, config, snapshotOf(t, st), r)
	st.Rules = []rules.Config{rule}
	config.RulesAlone = rapid.IntRange(0, 3).Draw(t, "rules instead") == 0
	got := decideWith(t, config, snapshotOf(t, st), r)
	if diff := cmp.Diff(twin.Decide(config, st, r).Decision, timeless(got), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("- the twin, + the decision:\n%s", diff)
	}
	byRules := slices.ContainsFunc(got.Victims, func(v preemption.Victim) bool { return v.Reason == preemption.ConfigurablePreemption })
	if len(got.RuleFaults) > 0 {
		reached["bad"]++
		got.RuleFaults = nil
	}
	if !byRules {
		if diff := cmp.Diff(policies, got); diff != "" && !config.RulesAlone {
			t.Fatalf("- by policies, + by policies and rules, without a victim of rules:\n%s", diff)
		}
		return
	}
	if config.RulesAlone {
		reached["alone"]++
	}
	reached["rules"]++
	if !twin.FitsWithout(st, r, got.Victims, true) {
		t.Fatal("the victims do not make room")
	}
	for i, v := range got.Victims {
		if twin.FitsWithout(st, r, slices.Delete(slices.Clone(got.Victims), i, i+1), true) {
			t.Fatalf("%s can be spared", v.Workload)
		}
		if v.Reason != preemption.ConfigurablePreemption {
			reached["both"]++
		} else if v.Cohort == "" && v.Queue != r.Workload.Queue {
			reached["tree"]++
		}
	}
	if r.Room != nil {
		reached["room"]++
	}
	if config.Sharing == preemption.Fair {
		reached["fair"]++
	}
}

func TestDecidesByRules(t *testing.T) {
	reached := map[string]int{}
	rapid.Check(t, func(t *rapid.T) { decidesByRules(t, reached) })
	if reached["rules"] == 0 {
		t.Error("no victim of rules was drawn")
	}
	t.Log(reached)
}

func FuzzDecidesByRules(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { decidesByRules(t, map[string]int{}) }))
}
