package preemption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// heroes is a queue "a" of 4 GPUs whose rules accept everybody everywhere, and a queue "b" of
// another tree, with what runs.
func heroes(admitted ...workload.Workload) preemption.State {
	q := func(name, cohort string) queue.Queue {
		return queue.Queue{Name: name, Cohort: cohort, Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 4}}}
	}
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "k"}, {Name: "l"}}, Queues: []queue.Queue{q("a", "k"), q("b", "k"), q("c", "l")}, Admitted: admitted}
	st.Queues[0].Rules = "hero"
	return st
}

func onGPUs(id, queue string, amount int64) workload.Workload {
	return workload.Workload{ID: id, Queue: queue, PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: amount}}}}}
}

func anybody(trigger rules.Trigger) rules.Rule {
	return rules.Rule{Name: "any", ActivationPolicy: rules.ActivationPolicy{Trigger: trigger}, CandidateSelectors: []rules.CandidateSelector{{Scope: rules.AnyClusterQueue}}}
}

func byRules(t *testing.T, c preemption.Config, st preemption.State, r preemption.Request, list ...rules.Rule) (preemption.Decision, error) {
	t.Helper()
	st.Rules = []rules.Config{{Name: "hero", Rules: list}}
	p := must(preemption.New(c))(t)
	before := r.Workload.Clone()
	d, err := p.Decide(snapshotOf(t, st), r)
	noDiff(t, "the request changed", before, r.Workload)
	return d, err
}

func victimsOf(d preemption.Decision) string {
	list := []string{d.Outcome.String()}
	for _, v := range d.Victims {
		list = append(list, fmt.Sprint(v.Workload, " ", v.Reason, " ", v.Cohort, v.Rules))
	}
	return strings.Join(list, ", ")
}

type nobodyYields struct{}

func (nobodyYields) Verdict(workload.Workload, preemption.Request) preemption.Verdict {
	return preemption.NeverYields()
}

// Gates, an inactive queue, requests without flavors, a workload that holds quota.
func TestDecideByRulesOfOtherRequests(t *testing.T) {
	st := heroes(onGPUs("x", "b", 4))
	r := preemption.Request{Workload: onGPUs("hero", "a", 8), Now: now}
	r.Workload.Gates = gate.Gates{Names: []string{"g"}}
	if d, err := byRules(t, preemption.Config{}, st, r, anybody(rules.Always)); d.Outcome != preemption.Gated || len(d.Victims) != 1 || err != nil {
		t.Error(victimsOf(d), err)
	}
	r.Workload.Gates = gate.Gates{}
	r.Workload.NeverPreempts = true
	if d, err := byRules(t, preemption.Config{}, st, r, anybody(rules.Always)); d.Outcome != preemption.Impossible || err != nil {
		t.Error(victimsOf(d), err)
	}
	r.Workload.NeverPreempts = false
	for i := range st.Queues[:2] {
		st.Queues[i].Inactive = true
		if d, err := byRules(t, preemption.Config{}, st, r, anybody(rules.Always)); d.Outcome != preemption.Impossible || err != nil {
			t.Error(victimsOf(d), err)
		}
		st.Queues[i].Inactive = false
	}
	open := r
	open.Workload = r.Workload.Clone()
	open.Workload.PodSets[0].Requests[0].Flavor = ""
	if d, err := byRules(t, preemption.Config{}, st, open, anybody(rules.Always)); d.Outcome != preemption.Preempt || d.Assignment[0].Resources[0].Possibility != preemption.PossibilityReclaim || err != nil {
		t.Error(victimsOf(d), err)
	}
	fewer := r
	fewer.Workload = r.Workload.Clone()
	fewer.Workload.PodSets[0].Count, fewer.Workload.PodSets[0].Requests[0].Amount = 9, 1
	fewer.MinCounts = []preemption.Replicas{{PodSet: "main", Count: 1}}
	if d, err := byRules(t, preemption.Config{}, st, fewer, anybody(rules.Always)); d.Outcome != preemption.Preempt || d.Counts[0].Count != 8 || err != nil {
		t.Error(victimsOf(d), err)
	}
	st.Admitted = append(st.Admitted, onGPUs("hero", "a", 1))
	r.HoldsQuota = true
	if d, err := byRules(t, preemption.Config{}, st, r, anybody(rules.Always)); d.Outcome != preemption.Preempt || len(d.Victims) != 1 || d.Victims[0].Workload != "x" || err != nil {
		t.Error(victimsOf(d), err)
	}
	r.HoldsQuota = false
	if _, err := byRules(t, preemption.Config{}, st, r, anybody(rules.Always)); err == nil {
		t.Error("an admitted workload is asked about")
	}
}

// "One bad selector: no candidate of this tier and later ones": the decision is that of the
// policies, with what is wrong.
func TestDecideByBadRules(t *testing.T) {
	bad := anybody(rules.Always)
	bad.CandidateSelectors = append(bad.CandidateSelectors, rules.CandidateSelector{Scope: "bad"})
	d, err := byRules(t, preemption.Config{}, heroes(onGPUs("x", "b", 4)), preemption.Request{Workload: onGPUs("hero", "a", 8), Now: now}, bad)
	if err != nil || len(d.RuleFaults) != 1 || !strings.HasPrefix(d.RuleFaults[0], `config "hero": rules[0].candidateSelectors[1].scope: "bad"`) || d.Outcome != preemption.Impossible || len(d.Blockers) == 0 {
		t.Error(victimsOf(d), d.RuleFaults, err)
	}
}

// Rules come and go by edits; a queue may refer to some that are not there.
func TestEditRules(t *testing.T) {
	r := preemption.Request{Workload: onGPUs("hero", "a", 8), Now: now}
	hero := rules.Config{Name: "hero", Rules: []rules.Rule{anybody(rules.Always)}}
	s := snapshotOf(t, heroes(onGPUs("x", "b", 4)))
	if d := decideWith(t, preemption.Config{}, s, r); d.Possible() {
		t.Errorf("without rules: %v", victimsOf(d))
	}
	with := edit(t, s, preemption.SetRules(hero), preemption.SetRules(rules.Config{Name: "other"}))
	if d := decideWith(t, preemption.Config{}, with, r); d.Outcome != preemption.Preempt {
		t.Errorf("with rules: %v", victimsOf(d))
	}
	if got, ok := with.Rules("hero"); !ok || !cmp.Equal(got, hero) {
		t.Errorf("%+v", got)
	}
	moved, _ := with.Queue("b")
	moved.Cohort = ""
	if d := decideWith(t, preemption.Config{}, edit(t, with, preemption.SetQueue(moved)), r); d.Possible() {
		t.Errorf("the only donor is in another tree: %v", victimsOf(d))
	}
	if d := decideWith(t, preemption.Config{}, edit(t, with, preemption.RemoveRules("hero")), r); d.Possible() {
		t.Errorf("without rules again: %v", victimsOf(d))
	}
	_, err := with.With(preemption.RemoveRules("gone"), preemption.SetRules(rules.Config{}))
	if err == nil || err.Error() != `edits[0]: no rules "gone"; edits[1].name: is empty` {
		t.Error(err)
	}
	large := rules.Config{Name: "large", Rules: make([]rules.Rule, rules.MaxRules+1)}
	large.Rules[2].CandidateSelectors = make([]rules.CandidateSelector, rules.MaxSelectors+1)
	_, err = with.With(preemption.RemoveRules("hero"), preemption.SetRules(large))
	if err == nil || err.Error() != `edits[1].rules: 65: more than 64; edits[1].rules[2].candidateSelectors: 33: more than 32` {
		t.Error(err)
	}
	st := heroes()
	st.Rules = []rules.Config{hero, {}, hero}
	if _, err := preemption.NewSnapshot(st); err == nil || err.Error() != `rules[1].name: is empty; rules[2].name: "hero" is also the name of rules[0]` {
		t.Error(err)
	}
}

// By rules alone all count as gone where a selector reaches, protected or not, when sums say what is short
// (Decision.Shortage): in other queues those that borrow, or all if some selector has no constraint on quota.
func TestShortageByRulesAlone(t *testing.T) {
	young := onGPUs("young", "a", 2)
	young.ReservedAt, young.AdmittedAt = now, now
	stays := onGPUs("stays", "b", 2)
	stays.NeverYields = true
	st := heroes(young, stays, onGPUs("beside", "b", 2))
	c := preemption.Config{Compat: preemption.Compat{RulesAlone: true}, MinRuntime: minruntime.Defaults{Preempt: quota.Some(time.Hour)}}
	own, others := rules.CandidateSelector{Scope: rules.WithinClusterQueue}, rules.CandidateSelector{Scope: rules.OtherClusterQueue, Priority: rules.Priority{MaxValue: quota.Some[int64](-1)}}
	borrowing := others
	borrowing.Quota = rules.Borrowing
	for _, of := range []struct {
		others  []rules.CandidateSelector
		missing int64
	}{{nil, 4}, {[]rules.CandidateSelector{borrowing}, 4}, {[]rules.CandidateSelector{others}, 2}} {
		rule := anybody(rules.Always)
		rule.CandidateSelectors = append(of.others, own)
		d, err := byRules(t, c, st, preemption.Request{Workload: onGPUs("hero", "a", 8), Now: now}, rule)
		if got := victimsOf(d); got != "Impossible" || err != nil || len(d.Shortage) != 1 || d.Shortage[0].Missing != of.missing {
			t.Errorf("%v: %v, %+v, want %d missing", got, err, d.Shortage, of.missing)
		}
	}
}

// Verify reads the rules by itself: what is wrong with a victim of rules is found.
func TestVerifyRules(t *testing.T) {
	st, r := heroes(onGPUs("x", "b", 4), onGPUs("other", "c", 4)), preemption.Request{Workload: onGPUs("hero", "a", 8), Now: now}
	smaller := anybody(rules.Always)
	smaller.Name, smaller.CandidateSelectors[0].NumericLabels = "smaller", []rules.NumericLabel{{Key: "size", Comparison: rules.LessThan}}
	st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{anybody(rules.Always), smaller}}}
	d := decideWith(t, preemption.Config{}, snapshotOf(t, st), r)
	verified(t, st, r, preemption.Config{}, d)
	for name, c := range map[string]struct {
		spoil func(d *preemption.Decision)
		want  string
	}{
		"no rule":         {func(d *preemption.Decision) { d.Victims[0].Rules = nil }, `no rule is named that accepts "x"`},
		"another rule":    {func(d *preemption.Decision) { d.Victims[0].Rules[0].Rule = "smaller" }, `rule "smaller" of "hero"`},
		"an unknown rule": {func(d *preemption.Decision) { d.Victims[0].Rules[0].Rule = "gone" }, `rule "gone" of "hero"`},
		"another trigger": {func(d *preemption.Decision) { d.Victims[0].Rules[0].Trigger = rules.InsufficientQuota }, `rule "any" of "hero" with the trigger "InsufficientQuota"`},
		"a selector more": {func(d *preemption.Decision) { d.Victims[0].Rules[0].Selectors = nil }, "selectors: [], want [0]"},
		"another cohort":  {func(d *preemption.Decision) { d.Victims[0].Cohort = "" }, `"" of "x", want "k"`},
		"one who can stay": {func(d *preemption.Decision) {
			d.Victims = append([]preemption.Victim{{Workload: "other", Queue: "c", Reason: preemption.ConfigurablePreemption, Rules: d.Victims[0].Rules}}, d.Victims...)
		}, `"other", or a replica of it, can stay`},
		"replicas": {func(d *preemption.Decision) {
			d.Victims[0].Replicas = []preemption.Replicas{{PodSet: "main", Count: 1}}
		}, "as a whole"},
		"a policy's victim": {func(d *preemption.Decision) {
			d.Victims[0].Reason, d.Victims[0].Rules = preemption.InCohortReclamation, nil
		}, "no policy permits"},
		"a refusal":  {func(d *preemption.Decision) { *d = preemption.Decision{Outcome: preemption.Impossible} }, `but "x" may yield now`},
		"no trigger": {func(d *preemption.Decision) { d.Triggers = nil }, "decision.triggers: [], want [Always]"},
	} {
		spoilt := decideWith(t, preemption.Config{}, snapshotOf(t, st), r)
		c.spoil(&spoilt)
		if err := verify.Decision(st, r, preemption.Config{}, spoilt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	st.Admitted[0].NeverYields = true
	if err := verify.Decision(st, r, preemption.Config{}, d); err == nil || !strings.Contains(err.Error(), `"x" never yields`) {
		t.Error(err)
	}
}

// lostBy loses the length of the ID.
type lostBy struct{}

func (lostBy) Lost(w workload.Workload, _ string, _ time.Time) int64 { return int64(len(w.ID)) }

// The order of candidates is that of the configuration: those being evicted first, then its keys,
// then the ID.
func TestRulesOrdering(t *testing.T) {
	at := func(id, queue, local string, priority int64, minutes time.Duration) workload.Workload {
		w := onGPUs(id, queue, 4)
		w.LocalQueue, w.Priority, w.ReservedAt = local, priority, now.Add(-minutes*time.Minute)
		return w
	}
	st := heroes(at("long-id", "a", "x", 3, 1), at("b", "b", "y", 1, 2), at("cc", "d", "z", 2, 3))
	st.Queues = append(st.Queues, queue.Queue{Name: "d", Cohort: "m", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 4}}})
	st.Cohorts = append(st.Cohorts, queue.Cohort{Name: "root"}, queue.Cohort{Name: "m", Parent: "root"})
	st.Cohorts[0].Parent = "root"
	r := preemption.Request{Workload: onGPUs("hero", "a", 4), Now: now, LocalQueueUsage: []queue.LocalQueueUsage{{LocalQueue: "y", Usage: 2}, {LocalQueue: "x", Usage: 1}}}
	for _, c := range []struct {
		key            rules.OrderingKey
		first, reverse string
	}{
		{rules.ByPriority, "b", "long-id"}, {rules.ByAdmission, "cc", "long-id"}, {rules.ByOtherQueue, "long-id", "b"},
		{rules.ByOtherCohort, "b", "cc"}, {rules.ByLocalQueue, "cc", "b"}, {rules.ByCost, "b", "long-id"},
	} {
		for _, direction := range []rules.Direction{rules.Ascending, rules.Descending} {
			st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{anybody(rules.Always)}, Ordering: []rules.Ordering{{Key: c.key, Direction: direction}}}}
			want := c.first
			if direction == rules.Descending {
				want = c.reverse
			}
			d := decideWith(t, preemption.Config{Cost: lostBy{}}, snapshotOf(t, st), r)
			if len(d.Victims) != 1 || d.Victims[0].Workload != want {
				t.Errorf("%s %s: %s, want %s", c.key, direction, victimsOf(d), want)
			}
			gone := st
			gone.Admitted = []workload.Workload{st.Admitted[0], st.Admitted[1], st.Admitted[2], at("zz-leaves", "b", "", 9, 0)}
			gone.Admitted[3].Evicted = true
			if d := decideWith(t, preemption.Config{Cost: lostBy{}}, snapshotOf(t, gone), r); len(d.Victims) == 0 || !slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return v.Workload == "zz-leaves" && v.Order == 1 }) {
				t.Errorf("%s %s, with one that leaves: %s", c.key, direction, victimsOf(d))
			}
		}
	}
}

// When a workload that waits was last reserved means nothing: it has run for no time.
func TestRulesReadNoOldReservation(t *testing.T) {
	runs := onGPUs("runs", "a", 4)
	runs.ReservedAt = now.Add(-time.Hour)
	st := heroes(runs, onGPUs("beside", "b", 4))
	longer := anybody(rules.Always)
	longer.CandidateSelectors = []rules.CandidateSelector{{Scope: rules.WithinClusterQueue, Time: rules.Times{ExecutionTimeRelation: rules.GreaterThan}}}
	r := preemption.Request{Workload: onGPUs("hero", "a", 4), Now: now}
	r.Workload.ReservedAt = now.Add(-3 * time.Hour)
	c := preemption.Config{Compat: preemption.Compat{RulesAlone: true}}
	d, err := byRules(t, c, st, r, longer)
	if got := victimsOf(d); !strings.HasPrefix(got, "Preempt, runs") || err != nil {
		t.Error(got, err)
	}
	st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{longer}}}
	says(t, explainWith(t, c, snapshotOf(t, st), r), "rule any selector 0: accepts 1: ")
}

// A forecast is about quota alone.
func TestForecastReadsNoRoom(t *testing.T) {
	preemptor := new(preemption.Preemptor)
	st := heroes(onGPUs("own", "a", 4), onGPUs("beside", "b", 4))
	r := preemption.Request{Workload: onGPUs("hero", "a", 4), Now: now, Room: noRoom{}}
	own := anybody(rules.Always)
	own.CandidateSelectors = []rules.CandidateSelector{{Scope: rules.WithinClusterQueue}}
	st.Rules = []rules.Config{{Name: "hero", Rules: []rules.Rule{own}}}
	gpus := quota.Amount{Flavor: "f", Resource: "gpu", Amount: 4}
	if f, err := preemptor.Forecast(snapshotOf(t, st), r, gpus); err != nil || f.Possibility != preemption.PossibilityPreempt {
		t.Error(f, err)
	}
}
