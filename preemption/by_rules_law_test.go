package preemption_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
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
	borrowers := rapid.IntRange(0, 2).Draw(t, "of others those alone that borrow") == 0
	for i := range rapid.IntRange(1, 3).Draw(t, "rules") {
		r := rules.Rule{Name: "r" + strconv.Itoa(i), ActivationPolicy: rules.ActivationPolicy{Trigger: rapid.SampledFrom(rules.Triggers()).Draw(t, "trigger")}}
		for range rapid.IntRange(1, 3).Draw(t, "selectors") {
			s := rules.CandidateSelector{Scope: rapid.SampledFrom([]rules.Scope{
				rules.AnyClusterQueue, rules.AnyClusterQueue, rules.WithinCohortTree, rules.WithinParentCohort, rules.WithinClusterQueue, rules.WithinLocalQueue,
				rules.OtherInCohortTree, rules.OtherInCohortTree, rules.OtherInParentCohort, rules.OtherClusterQueue,
			}).Draw(t, "scope")}
			switch rapid.IntRange(0, 4).Draw(t, "part") {
			case 0:
				s.NumericLabels = []rules.NumericLabel{{Key: "size", Comparison: rules.LessThanOrEqual}}
			case 1:
				s.Priority = rules.Priority{Mode: rules.Boosted, Comparison: rules.LessThanOrEqual}
			case 2:
				s.LabelSelector = &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "size", Operator: workload.DoesNotExist}}}
			case 3:
				s.LabelSelector = &workload.LabelSelector{MatchLabels: map[string]string{"size": "1"}}
			}
			if rapid.IntRange(0, 2).Draw(t, "times") == 0 {
				minutes := func(least, most int) quota.OptionalDuration {
					if n := rapid.IntRange(least-1, most).Draw(t, "minutes"); n >= least {
						return quota.Some(time.Duration(n) * 10 * time.Minute)
					}
					return quota.OptionalDuration{}
				}
				s.Time = rules.Times{MinExecutionDuration: minutes(0, 6), MaxExecutionDuration: minutes(6, 9), MinTimeFromCreationDuration: minutes(0, 6)}
				s.Time.TimeFromCreationRelation = rapid.SampledFrom([]rules.Comparison{"", "", rules.LessThan, rules.GreaterThanOrEqual}).Draw(t, "relation")
			}
			if s.Scope != rules.WithinClusterQueue && s.Scope != rules.WithinLocalQueue && (borrowers || rapid.Bool().Draw(t, "constrained")) {
				s.Quota = rapid.SampledFrom(rules.QuotaConstraints()).Draw(t, "quota")
			}
			if rapid.IntRange(0, 99).Draw(t, "bad") == 61 {
				s.Scope = "bad"
			}
			r.CandidateSelectors = append(r.CandidateSelectors, s)
		}
		if rapid.IntRange(0, 3).Draw(t, "waits") == 0 {
			r.ActivationPolicy.MinTriggerRequiredDuration = quota.Some(time.Duration(rapid.IntRange(0, 3).Draw(t, "wait")) * 10 * time.Minute)
		}
		config.Rules = append(config.Rules, r)
	}
	if rapid.Bool().Draw(t, "in the usual order") {
		return config
	}
	for _, key := range rules.OrderingKeys() {
		if rapid.IntRange(0, 7).Draw(t, "ordered") == 0 {
			config.Ordering = append(config.Ordering, rules.Ordering{Key: key, Direction: rapid.SampledFrom([]rules.Direction{"", rules.Ascending, rules.Descending}).Draw(t, "direction")})
		}
	}
	return config
}

// drawSeen draws since when triggers have been observed.
func drawSeen(t *rapid.T, r *preemption.Request) {
	for _, trigger := range rules.Triggers() {
		if rapid.IntRange(0, 2).Draw(t, "seen") == 0 {
			since := r.Now.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "since")) * 10 * time.Minute)
			r.TriggersSince = append(r.TriggersSince, rules.Observation{Trigger: trigger, Since: since})
		}
	}
}

// suffices reports whether in fair sharing the policies alone find victims for a request that is asked again, whose
// victims were some of rules: what leaves comes first, so that the strategies may permit others than before.
func suffices(t *rapid.T, config preemption.Config, st preemption.State, r preemption.Request, d preemption.Decision) bool {
	if config.Sharing == preemption.Classical || d.Outcome != preemption.Preempt {
		return false
	}
	again := decideWith(t, config, edit(t, snapshotOf(t, st), d.Edits()...), r)
	return again.Outcome == preemption.Preempt && !slices.ContainsFunc(again.Victims, func(v preemption.Victim) bool { return v.Reason == preemption.ConfigurablePreemption })
}

// A decision by rules is that of the witness; its victims make room, and none can be spared.
func decidesByRules(t *rapid.T, reached map[string]int) {
	record := preemptiontest.Records().Draw(t, "record")
	st, r := record.State, *record.Request
	config := preemptiontest.Configs().Draw(t, "config")
	r.Room = drawRoom(t, st)
	if rapid.IntRange(0, 3).Draw(t, "was reserved") == 0 {
		r.Workload.ReservedAt = r.Now.Add(-time.Hour) // before it was evicted: this means nothing
	}
	rule := drawRules(t, &st, &r.Workload)
	policies := decideWith(t, config, snapshotOf(t, st), r)
	st.Rules = []rules.Config{rule}
	config.Compat.RulesAlone = rapid.IntRange(0, 3).Draw(t, "rules instead") == 0
	drawSeen(t, &r)
	got := decideWith(t, config, snapshotOf(t, st), r)
	agrees(t, config, st, r, got)
	verified(t, st, r, config, got)
	byRules := slices.ContainsFunc(got.Victims, func(v preemption.Victim) bool { return v.Reason == preemption.ConfigurablePreemption })
	if len(got.RuleFaults) > 0 {
		reached["bad"]++
		got.RuleFaults = nil
	}
	if !byRules {
		quick := policies
		quick.RetryAt, quick.Outcome, quick.Triggers, quick.Blockers = got.RetryAt, got.Outcome, got.Triggers, got.Blockers
		for i, b := range got.Blockers { // a workload that rules accept is kept by something else
			if b.Rule != preemption.RuleMinRuntime && b.Rule != preemption.RuleGuarded && b.Rule != preemption.RuleNeverYields && i < config.MaxBlockers && !slices.Contains(policies.Blockers, b) {
				t.Fatalf("%+v is no blocker of the policies: %+v", b, policies.Blockers)
			}
		}
		if !cmp.Equal(policies.Blockers, got.Blockers) {
			reached["kept from rules"]++
		}
		if diff := cmp.Diff(quick, got); diff != "" && !config.Compat.RulesAlone || policies.Possible() && !config.Compat.RulesAlone && got.Outcome != policies.Outcome {
			t.Fatalf("- by policies, + by policies and rules, without a victim of rules:\n%s", diff)
		}
		if !got.Possible() {
			waitsByRules(t, config, st, r, got, reached)
		}
		return
	}
	if config.Compat.RulesAlone {
		reached["alone"]++
	}
	reached["rules"]++
	if !fitsWithout(config, st, r, got.Victims, true) {
		t.Fatal("the victims do not make room")
	}
	constrained := func(v preemption.Victim) bool {
		return v.Reason == preemption.ConfigurablePreemption && !slices.ContainsFunc(v.Rules, func(of preemption.VictimRule) bool {
			at := slices.IndexFunc(rule.Rules, func(r rules.Rule) bool { return r.Name == of.Rule })
			return of.Trigger == v.Rules[0].Trigger && slices.ContainsFunc(of.Selectors, func(n int) bool { return rule.Rules[at].CandidateSelectors[n].Quota == "" })
		})
	}
	someConstrained := slices.ContainsFunc(got.Victims, constrained)
	if someConstrained {
		reached["constrained"]++
	} else if !suffices(t, config, st, r, got) {
		takesNoMore(t, config, st, r, got)
	}
	for i, v := range got.Victims {
		spared := slices.Delete(slices.Clone(got.Victims), i, i+1)
		if fitsWithout(config, st, r, spared, !config.Compat.PreemptWithinNominal) { // it may stay so that the queue does not borrow
			if !someConstrained {
				t.Fatalf("%s can be spared", v.Workload)
			}
			reached["kept"]++ // the others need it; Verify judges that
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
	if config.Sharing != preemption.Classical {
		reached["fair"]++
	}
}

// waitsByRules asks at every instant at which anything can change, and observes the triggers: until RetryAt the answer stays
// the same.
func waitsByRules(t *rapid.T, config preemption.Config, st preemption.State, r preemption.Request, got preemption.Decision, reached map[string]int) {
	want, waits := got.RetryAt, !got.RetryAt.IsZero()
	if waits {
		reached["waits"]++
	}
	if config.MaxRetrySteps = -1; waits && decideWith(t, config, snapshotOf(t, st), r).Outcome != preemption.Wait {
		t.Fatal("without RetryAt nothing is to wait for")
	}
	config.MaxRetrySteps = 0
	for waits && r.Now.Before(want) {
		r.TriggersSince = rules.Observe(r.TriggersSince, got.Triggers, r.Now)
		at, ok := witness.Next(config, st, r)
		if !ok || at.After(want) {
			t.Fatalf("the next instant is %v, and RetryAt %v is none", at, want)
		}
		r.Now = at
		got = decideWith(t, config, snapshotOf(t, st), r)
		if at.Before(want) && (got.Outcome != preemption.Wait || !got.RetryAt.Equal(want)) || at.Equal(want) && !got.Possible() {
			t.Fatalf("at %v: %v until %v, want to wait until %v", at, got.Outcome, got.RetryAt, want)
		}
	}
}

func TestDecidesByRules(t *testing.T) {
	reached := map[string]int{}
	rapid.Check(t, func(t *rapid.T) { decidesByRules(t, reached) })
	if reached["rules"] == 0 && !testing.Short() { // of twenty states perhaps none has one
		t.Error("no victim of rules was drawn")
	}
	t.Log(reached)
}
