package preemption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// limit draws limits, labels of queues that they select by, and a history.
func limit(t *rapid.T, c *preemption.Config, st *preemption.State, r *preemption.Request) {
	st.Queues = slices.Clone(st.Queues)
	for i := range st.Queues {
		st.Queues[i].Labels = map[string]string{"team": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "team")}
	}
	team := func(name string) *workload.LabelSelector {
		if rapid.IntRange(0, 2).Draw(t, name) > 0 {
			return nil
		}
		return &workload.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	}
	minutes := func(name string, from, to int) time.Duration {
		return time.Duration(rapid.IntRange(from, to).Draw(t, name)) * time.Minute
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "limits") {
		c.Limits = append(c.Limits, limits.Limit{
			Name: strings.Repeat("l", i+1), Scope: rapid.SampledFrom([]limits.Scope{limits.Global, limits.PreemptingClusterQueue, limits.PreemptedClusterQueue, limits.PreemptedWorkload}).Draw(t, "scope"),
			PreemptingQueues: team("preempting"), PreemptedQueues: team("preempted"),
			Limit: rapid.Int64Range(0, 3).Draw(t, "limit"), Window: quota.Some(minutes("window", 1, 20)),
		})
	}
	var events []limits.Event
	for range rapid.IntRange(0, 5).Draw(t, "events") {
		e := limits.Event{Preemptor: "earlier", Victim: "gone", At: preemptiontest.Now.Add(-minutes("before", -1, 25))}
		if len(st.Admitted) > 0 && rapid.Bool().Draw(t, "known") {
			e.Victim = rapid.SampledFrom(st.Admitted).Draw(t, "victim").ID
		}
		e.PreemptingQueue = rapid.SampledFrom(st.Queues).Draw(t, "from").Name
		e.PreemptedQueue = rapid.SampledFrom(st.Queues).Draw(t, "to").Name
		events = append(events, e)
	}
	r.History, _ = limits.NewHistory(events)
}

// drawLimited draws a question with limits and, of every second one, with rules.
func drawLimited(t *rapid.T) (config preemption.Config, st preemption.State, r preemption.Request) {
	record := preemptiontest.Records().Draw(t, "record")
	config = preemptiontest.Configs().Draw(t, "config")
	st, r = record.State, *record.Request
	protect(t, &config, &st)
	reevaluate(t, &config)
	limit(t, &config, &st, &r)
	if rapid.Bool().Draw(t, "by rules") {
		st.Admitted = slices.Clone(st.Admitted)
		st.Queues = slices.Clone(st.Queues)
		st.Rules = []rules.Config{drawRules(t, &st, &r.Workload)}
		drawSeen(t, &r)
		config.Compat.RulesAlone, config.Protection = rapid.Bool().Draw(t, "rules instead"), minruntime.Protection{}
		for i := range config.Limits {
			if rapid.Bool().Draw(t, "of a rule") {
				config.Limits[i].Rules = []string{"r0"}
			}
		}
	}
	return config, st, r
}

// With limits decisions are those of the witness, also of time, and Verify has nothing against them.
func limitsHold(t *rapid.T) {
	config, st, r := drawLimited(t)
	d := decideWith(t, config, snapshotOf(t, st), r)
	verified(t, st, r, config, d)
	agrees(t, config, st, r, d)
}

func TestLimitsHold(t *testing.T) { rapid.Check(t, limitsHold) }

// Limits by scope: of three that would have to yield, two may; a limit of rules leaves the
// policies alone; zero forbids for ever; an event that leaves the window makes room.
func TestLimitsByScope(t *testing.T) {
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "all", Quotas: gpus(3), Preemption: policy, Labels: map[string]string{"team": "x"}},
			{Name: "b", Cohort: "all", Quotas: gpus(0), Labels: map[string]string{"team": "y"}},
		},
		Admitted: []workload.Workload{job("v1", "b", 0, 1, started(20)), job("v2", "b", 0, 1, started(20)), job("own", "a", -1, 1, started(20))},
	}
	r := pending("a", 0, 3)
	event := func(victim, from, to string, ago int) limits.Event {
		return limits.Event{Preemptor: "p", Victim: victim, At: started(ago), Class: limits.Class{PreemptingQueue: from, PreemptedQueue: to}}
	}
	window := quota.Some(10 * time.Minute)
	team := func(name string) *workload.LabelSelector {
		return &workload.LabelSelector{MatchLabels: map[string]string{"team": name}}
	}
	for _, c := range []struct {
		name    string
		limit   limits.Limit
		events  []limits.Event
		want    preemption.Outcome
		minutes int // until RetryAt
		refused string
	}{
		{"enough", limits.Limit{Scope: limits.Global, Limit: 3}, nil, preemption.Preempt, 0, ""},
		{"too few in the decision", limits.Limit{Scope: limits.Global, Limit: 2}, nil, preemption.Impossible, 0, "own"},
		{"an event leaves the window", limits.Limit{Scope: limits.Global, Limit: 3}, []limits.Event{event("x", "b", "c", 4)}, preemption.Wait, 6, "own"},
		{"at the end of the window", limits.Limit{Scope: limits.Global, Limit: 3}, []limits.Event{event("x", "b", "c", 10)}, preemption.Preempt, 0, ""},
		{"both have to leave", limits.Limit{Scope: limits.Global, Limit: 3}, []limits.Event{event("x", "b", "c", 4), event("y", "b", "c", 1)}, preemption.Wait, 9, "v2"},
		{"another preemptor's queue", limits.Limit{Scope: limits.PreemptingClusterQueue, Limit: 3}, []limits.Event{event("x", "b", "c", 4)}, preemption.Preempt, 0, ""},
		{"the preemptor's queue", limits.Limit{Scope: limits.PreemptingClusterQueue, Limit: 3}, []limits.Event{event("x", "a", "c", 4)}, preemption.Wait, 6, "own"},
		{"the victim's queue", limits.Limit{Scope: limits.PreemptedClusterQueue, Limit: 2}, []limits.Event{event("x", "c", "b", 4)}, preemption.Wait, 6, "v2"},
		{"the victim", limits.Limit{Scope: limits.PreemptedWorkload, Limit: 1}, []limits.Event{event("v2", "c", "b", 4)}, preemption.Wait, 6, "v2"},
		{"zero forbids", limits.Limit{Scope: limits.PreemptedWorkload}, nil, preemption.Impossible, 0, "v1"},
		{"zero for other victims", limits.Limit{Scope: limits.Global, PreemptedQueues: team("z")}, nil, preemption.Preempt, 0, ""},
		{"zero for other preemptors", limits.Limit{Scope: limits.Global, PreemptingQueues: team("y")}, nil, preemption.Preempt, 0, ""},
		{"zero for a team", limits.Limit{Scope: limits.Global, PreemptingQueues: team("x"), PreemptedQueues: team("y")}, nil, preemption.Impossible, 0, "v1"},
		{"zero by rules", limits.Limit{Scope: limits.Global, Configs: []string{"config"}}, nil, preemption.Preempt, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.limit.Name, c.limit.Window = "some limit", window
			config := preemption.Config{Limits: []limits.Limit{c.limit}}
			r := r
			r.History, _ = limits.NewHistory(c.events)
			s := snapshotOf(t, st)
			d := decideWith(t, config, s, r)
			if d.Outcome != c.want || c.want == preemption.Wait && !d.RetryAt.Equal(now.Add(time.Duration(c.minutes)*time.Minute)) {
				t.Fatalf("%v until %v, want %v after %d minutes", d.Outcome, d.RetryAt, c.want, c.minutes)
			}
			named := len(d.Blockers) > 0 && d.Blockers[0].Rule == preemption.RuleLimit && d.Blockers[0].SetBy == "some limit" && d.Blockers[0].Workload == c.refused
			if named != (c.refused != "") {
				t.Errorf("blockers %+v, want first the limit that refused %q", d.Blockers, c.refused)
			}
			verified(t, st, r, config, d)
			if events := d.Events(s, r, r.Now); len(events) != len(d.Victims) {
				t.Errorf("%d events of %d victims", len(events), len(d.Victims))
			} else if c.want == preemption.Preempt {
				if r.History, _ = r.History.With(events...); c.limit.Scope == limits.PreemptedWorkload || len(c.limit.Configs) > 0 || c.limit.Limit == 0 {
					return
				}
				if again := decideWith(t, config, s, r); again.Outcome != preemption.Wait {
					t.Errorf("once more: %v", again.Outcome)
				}
			}
		})
	}
}

// A limit of a rule counts victims by that rule alone.
func TestLimitsOfRules(t *testing.T) {
	rule := func(name string, trigger rules.Trigger) rules.Rule {
		return rules.Rule{Name: name, ActivationPolicy: rules.ActivationPolicy{Trigger: trigger}, CandidateSelectors: []rules.CandidateSelector{{Scope: rules.WithinClusterQueue}}}
	}
	st := preemption.State{
		Queues:   []queue.Queue{{Name: "a", Quotas: gpus(2), Rules: "config"}},
		Admitted: []workload.Workload{job("v1", "a", 0, 1, started(20)), job("v2", "a", 0, 1, started(20))},
		Rules:    []rules.Config{{Name: "config", Rules: []rules.Rule{rule("one", rules.Always)}}},
	}
	r := pending("a", 0, 2)
	for _, c := range []struct {
		limit limits.Limit
		want  preemption.Outcome
	}{
		{limits.Limit{Limit: 1, Rules: []string{"one"}}, preemption.Impossible},
		{limits.Limit{Limit: 1, Configs: []string{"config"}}, preemption.Impossible},
		{limits.Limit{Limit: 1}, preemption.Impossible},
		{limits.Limit{Limit: 2, Rules: []string{"one"}}, preemption.Preempt},
		{limits.Limit{Limit: 1, Rules: []string{"two"}}, preemption.Preempt},
		{limits.Limit{Limit: 1, Configs: []string{"other"}, Rules: []string{"one"}}, preemption.Preempt},
	} {
		c.limit.Name, c.limit.Scope, c.limit.Window = "l", limits.Global, quota.Some(time.Hour)
		s := snapshotOf(t, st)
		d := decideWith(t, preemption.Config{Limits: []limits.Limit{c.limit}}, s, r)
		if d.Outcome != c.want {
			t.Errorf("%+v: %v, want %v", c.limit, d.Outcome, c.want)
		}
		for _, e := range d.Events(s, r, r.Now) {
			if e.Config != "config" || !slices.Equal(e.Rules, []string{"one"}) {
				t.Errorf("%+v", e)
			}
		}
	}
	// Rules of later tiers, whose trigger does not hold, accept both, too, but preempt nobody.
	st.Rules[0].Rules = append(st.Rules[0].Rules, rule("two", rules.InsufficientQuota), rule("three", rules.QuotaFeasibleAndInsufficientTopology))
	for name, want := range map[string]string{"one": "two", "two": "one", "three": "one"} {
		forbid := preemption.Config{Limits: []limits.Limit{{Name: "l", Scope: limits.Global, Rules: []string{name}, Window: quota.Some(time.Hour)}}}
		s := snapshotOf(t, st)
		d := decideWith(t, forbid, s, r)
		if len(d.Victims) != 2 || d.Victims[0].Rules[0].Rule != want {
			t.Errorf("without %s: %v %+v, want two by %s", name, d.Outcome, d.Victims, want)
		}
		for _, e := range d.Events(s, r, r.Now) {
			if !slices.Equal(e.Rules, []string{want}) {
				t.Errorf("without %s: %+v", name, e)
			}
		}
		verified(t, st, r, forbid, d)
	}
	_, err := preemption.New(preemption.Config{Limits: []limits.Limit{{Name: "l", Scope: limits.Global, Window: quota.Some(time.Millisecond)}}})
	if err == nil || err.Error() != "config.Limits[0].window: 1ms is shorter than 1s" {
		t.Error(err)
	}
}

// A workload of which the policies took replicas, and a rule the rest, is one preemption, by the rule.
func TestLimitsOfRulesAndReplicas(t *testing.T) {
	one := []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}
	elastic := job("elastic", "b", 0, 4, started(20))
	elastic.PodSets[0].MinCount = quota.Some(int64(1))
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "all", Reserved: one}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "all", Quotas: gpus(4), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}, Rules: "config"},
			{Name: "b", Cohort: "all", Quotas: gpus(2)},
		},
		Admitted: []workload.Workload{elastic},
		Rules: []rules.Config{{Name: "config", Rules: []rules.Rule{{Name: "any", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always},
			CandidateSelectors: []rules.CandidateSelector{{Scope: rules.AnyClusterQueue}}}}}},
	}
	for _, c := range []struct {
		limit limits.Limit
		want  preemption.Outcome
	}{
		{limits.Limit{Limit: 0, Rules: []string{"any"}}, preemption.Impossible},
		{limits.Limit{Limit: 1, Rules: []string{"any"}}, preemption.Preempt},
		{limits.Limit{Limit: 1}, preemption.Preempt},
	} {
		c.limit.Name, c.limit.Scope, c.limit.Window = "l", limits.Global, quota.Some(time.Hour)
		config := preemption.Config{Limits: []limits.Limit{c.limit}}
		d := decideWith(t, config, snapshotOf(t, st), pending("a", 0, 4))
		if d.Outcome != c.want || d.Outcome == preemption.Preempt && (len(d.Victims) != 1 || d.Victims[0].Reason != preemption.ConfigurablePreemption) {
			t.Errorf("%+v: %s", c.limit, text(d))
		}
		if err := verify.Decision(st, pending("a", 0, 4), config, d); err != nil {
			t.Error(err)
		}
	}
}

// A victim of two rules of a tier falls under the limits of both.
func TestLimitsOfEachRule(t *testing.T) {
	rule := func(name string) rules.Rule {
		return rules.Rule{Name: name, ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{{Scope: rules.WithinClusterQueue}}}
	}
	s := snapshotOf(t, preemption.State{
		Queues:   []queue.Queue{{Name: "a", Quotas: gpus(1), Rules: "config"}},
		Admitted: []workload.Workload{job("v", "a", 0, 1, started(20))},
		Rules:    []rules.Config{{Name: "config", Rules: []rules.Rule{rule("one"), rule("two")}}},
	})
	for _, name := range []string{"one", "two"} {
		l := limits.Limit{Name: "l", Scope: limits.Global, Window: quota.Some(time.Hour), Rules: []string{name}}
		if d := decideWith(t, preemption.Config{Limits: []limits.Limit{l}}, s, pending("a", 0, 1)); d.Outcome != preemption.Impossible {
			t.Errorf("none by rule %q: %v", name, d.Outcome)
		}
	}
}

// A limit on a rule refuses somebody whom another rule accepts, too. When a constraint on quota lets the
// first rule accept it no more, the limit says nothing against it.
func TestLimitOnARuleThatNoLongerAccepts(t *testing.T) {
	gpus := func(n int64) []quota.Quota { return []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: n}} }
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "root", Quotas: gpus(1)}, {Name: "k", Parent: "root"}},
		Queues:  []queue.Queue{{Name: "a", Cohort: "root", Quotas: gpus(4), Rules: "c"}, {Name: "b", Cohort: "k", Quotas: gpus(0)}, {Name: "c", Cohort: "k", Quotas: gpus(0)}},
		Admitted: []workload.Workload{
			onGPUs("low", "b", 1), onGPUs("refused first", "b", 2), onGPUs("last", "c", 2),
		},
	}
	for i := range st.Admitted {
		st.Admitted[i].Priority = int64(i)
	}
	config := rules.Config{Name: "c"}
	for i, constraint := range []rules.QuotaConstraint{rules.DRSLessThanOrEqualToFinalShare, rules.Borrowing} {
		config.Rules = append(config.Rules, rules.Rule{
			Name: fmt.Sprint("r", i), ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always},
			CandidateSelectors: []rules.CandidateSelector{{Scope: rules.OtherInCohortTree, Quota: constraint}},
		})
	}
	st.Rules = []rules.Config{config}
	r := preemption.Request{Workload: onGPUs("asks", "a", 5), Now: now}
	for limit, want := range map[int64]string{0: "Impossible", 1: "Preempt, last, low, refused first"} { // by ID
		c := preemption.Config{Compat: preemption.Compat{RulesAlone: true}, Limits: []limits.Limit{{Name: "l", Scope: limits.PreemptedClusterQueue, Rules: []string{"r0"}, Limit: limit, Window: quota.Some(time.Hour)}}}
		d := decideWith(t, c, snapshotOf(t, st), r)
		got := d.Outcome.String()
		for _, v := range d.Victims {
			got += ", " + v.Workload
		}
		if got != want {
			t.Errorf("at most %d: %s, want %s", limit, got, want)
		}
		verified(t, st, r, c, d)
	}
}
