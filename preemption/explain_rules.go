package preemption

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/queue/rules"
)

// ExplainedRules says what the rules of the preemptor's queue say.
type ExplainedRules struct {
	// Config is the name of the rules, and Alone says that the policies of the queue play no part
	// ([Config.RulesAlone]).
	Config string `json:"config"`
	Alone  bool   `json:"alone,omitempty"`
	// Tiers are the tiers in order. Empty: they were not looked at, because the request fits, the
	// policies suffice, or nothing can suffice.
	Tiers []ExplainedTier `json:"tiers,omitempty"`
}

// ExplainedTier is the rules of one trigger.
type ExplainedTier struct {
	Trigger rules.Trigger `json:"trigger"`
	// Holds: the trigger holds, so that the rules were looked at. Since is since when it has been
	// observed. If it does not hold, nothing below is set.
	Holds bool      `json:"holds,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Faults lists bad selectors: then the tier, and later ones, permit nobody.
	Faults []string `json:"faults,omitempty"`
	// MayYield counts the workloads that some selector accepts now and that nothing keeps, without
	// those taken before. Kept counts those that some selector accepts now and that are kept, by
	// what keeps them: a minimum runtime, a guard, that they never yield; rule zero: they use
	// nothing of what needs preemption.
	MayYield Counted `json:"mayYield,omitzero"`
	Kept     []Kept  `json:"kept,omitempty"`
	// Rules are the rules with the trigger.
	Rules []ExplainedRule `json:"rules,omitempty"`
}

// ExplainedRule is a rule of a tier.
type ExplainedRule struct {
	Rule string `json:"rule"`
	// OfOthers: its preemptor selectors do not select the workload; its selectors are not looked at.
	OfOthers  bool                `json:"ofOthers,omitempty"`
	Selectors []ExplainedSelector `json:"selectors,omitempty"`
}

// ExplainedSelector counts the running workloads of all queues by what a selector says of them when
// the tier begins: constraints on quota are judged with those taken before gone.
type ExplainedSelector struct {
	Accepts Counted            `json:"accepts,omitzero"`
	Refuses []ExplainedRefusal `json:"refuses,omitempty"`
}

// ExplainedRefusal counts those that one part of a selector is the first to refuse.
type ExplainedRefusal struct {
	Part rules.Part `json:"part"`
	Counted
	// From and Until are the first and the last instant at which time alone lets the selector
	// accept one of them. Zero: at none.
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

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
		x.quota = map[quotaKey]rules.QuotaSet{}
	}
	x.quota[quotaKey{x.tier.Trigger, s.Workload}] = rules.QuotaSet(s.Count)
}

// takenByRules returns the rules by which a candidate was taken just now.
func (x *explainer) takenByRules(id string) []VictimRule {
	if x.tier == nil {
		return nil
	}
	w, known := x.c.Find(id)
	if !known {
		return nil
	}
	list := []Victim{{Workload: id}}
	x.sc.nameRules([]right.Victim{{Workload: w, Set: -1, ByRules: true, Taking: x.sc.rules.LastTaking()}}, list)
	return list[0].Rules
}

// rules says what the rules say, after the decision.
func (x *explainer) rules(about *Snapshot, config *Config) {
	e := about.evaluator()
	queue := x.r.Workload.Queue
	if !e.Has(queue) {
		return
	}
	of, _ := about.Queue(queue)
	by, _ := e.Config(of.Rules)
	out := &ExplainedRules{Config: by.Name, Alone: config.RulesAlone}
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
func (x *explainer) selectors(about *Snapshot, t *ExplainedTier, by *rules.Config) (ok bool) {
	t.Since = x.r.Now.Round(0)
	for _, o := range x.r.TriggersSince {
		if o.Trigger == t.Trigger {
			t.Since = o.Since.Round(0)
		}
	}
	waiting := x.r.waiting()
	tier, err := about.evaluator().Tier(t.Trigger, &waiting)
	if err != nil {
		t.Faults = faultTexts(err)
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
	moment := rules.Moment{Now: x.r.Now, Since: t.Since}
	for w := range about.Workloads() {
		known := false
		if moment.Quota, known = x.quota[quotaKey{t.Trigger, w.ID}]; !known {
			moment.Quota = rules.AllQuota() // no selector has a constraint, or it was taken before
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
	if at := v.From; !at.IsZero() {
		if r.From.IsZero() || at.Before(r.From) {
			r.From = at
		}
		if at.After(r.Until) {
			r.Until = at
		}
	}
}
