package explain

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
)

// tierBegins begins a tier, of which the steps that follow tell.
func (x *explainer) tierBegins(s *trace.Step) {
	if x.tiers == nil {
		x.tiers = map[rules.Trigger]*ExplainedTier{}
	}
	x.tier = &ExplainedTier{Trigger: rules.Triggers()[s.Count]}
	x.tiers[x.tier.Trigger] = x.tier
	clear(x.kept)
}

// quotaKey is a workload that a tier is asked about.
type quotaKey struct {
	trigger  rules.Trigger
	workload string
}

// tierQuota notes which constraints hold for a workload.
func (x *explainer) tierQuota(s *trace.Step) {
	if x.quota == nil {
		x.quota = map[quotaKey]selectors.QuotaSet{}
	}
	x.quota[quotaKey{x.tier.Trigger, s.Workload}] = selectors.QuotaSet(s.Count)
}

// rules says what the rules say, after the decision.
func (x *explainer) rules() {
	about := x.about
	of, _ := about.Queue(x.r.Workload.Queue)
	by, has := about.Rules(of.Rules)
	if !has {
		return
	}
	out := &ExplainedRules{Config: by.Name, Alone: x.config.RulesAlone}
	if x.e.Rules = out; out.Alone {
		x.e.Levels = nil // they are about policies
	}
	holding := x.e.Decision.Triggers
	if len(holding) == 0 {
		return
	}
	bad := false
	for _, trigger := range rules.Triggers() {
		if bad || !slices.ContainsFunc(by.Rules, func(r rules.Rule) bool { return r.ActivationPolicy.Trigger == trigger }) {
			continue
		}
		t := ExplainedTier{Trigger: trigger}
		if known := x.tiers[trigger]; known != nil {
			t = *known
			sortKept(t.Kept)
		}
		if t.Holds = slices.Contains(holding, trigger); t.Holds {
			bad = !x.selectors(about, &t, &by)
		}
		out.Tiers = append(out.Tiers, t)
	}
}

// selectors counts the running workloads by selector; ok is false if one is bad.
func (x *explainer) selectors(about *preemption.Snapshot, t *ExplainedTier, by *rules.Config) (ok bool) {
	t.Since = x.r.Now.Round(0)
	for _, o := range x.r.TriggersSince {
		if o.Trigger == t.Trigger {
			t.Since = o.Since.Round(0)
		}
	}
	tier, faults := x.recorder.Names.Tier(t.Trigger)
	if len(faults) > 0 {
		t.Faults = faults
		return false
	}
	at := map[rules.Match]*ExplainedSelector{}
	for i := range by.Rules {
		r := &by.Rules[i]
		if r.ActivationPolicy.Trigger != t.Trigger {
			continue
		}
		out := ExplainedRule{Rule: r.Name, OfOthers: !tier.ServesBy(i)}
		if !out.OfOthers {
			out.Selectors = make([]ExplainedSelector, len(r.CandidateSelectors))
		}
		for j := range out.Selectors {
			at[rules.Match{Rule: i, Selector: j}] = &out.Selectors[j]
		}
		t.Rules = append(t.Rules, out)
	}
	moment := selectors.Moment{Now: x.r.Now, Since: t.Since}
	for w := range about.Workloads() {
		known := false
		if moment.Quota, known = x.quota[quotaKey{t.Trigger, w.ID}]; !known {
			moment.Quota = selectors.AllQuota() // no selector has a constraint, or it was taken before
		}
		for _, v := range tier.Verdicts(&w, moment) {
			at[v.Match].add(w.ID, &v)
		}
	}
	for _, s := range at {
		slices.SortFunc(s.Refuses, func(a, b ExplainedRefusal) int {
			return slices.Index(rules.Parts(), a.Part) - slices.Index(rules.Parts(), b.Part)
		})
	}
	return true
}

func (s *ExplainedSelector) add(workload string, v *rules.Verdict) {
	if v.Refuses == "" {
		s.Accepts.add(workload)
		return
	}
	i := slices.IndexFunc(s.Refuses, func(r ExplainedRefusal) bool { return r.Part == v.Refuses })
	if i < 0 {
		i = len(s.Refuses)
		s.Refuses = append(s.Refuses, ExplainedRefusal{Part: v.Refuses})
	}
	r := &s.Refuses[i]
	r.Counted.add(workload)
	if !v.From.IsZero() {
		widen(&r.From, &r.Until, v.From)
	}
}
