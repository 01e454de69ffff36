package selectors_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// upTo returns a rule with the first parts of its selectors alone.
func upTo(r rules.Rule, parts int) rules.Rule {
	r.CandidateSelectors = slices.Clone(r.CandidateSelectors)
	for i := range r.CandidateSelectors {
		s := &r.CandidateSelectors[i]
		for _, part := range rules.Parts()[parts:] {
			switch part {
			case rules.PartScope:
				s.Scope = rules.AnyClusterQueue
			case rules.PartQueueLabels:
				s.ClusterQueueSelector = nil
			case rules.PartLabels:
				s.LabelSelector = nil
			case rules.PartPriority:
				s.Priority = rules.Priority{}
			case rules.PartNumericLabels:
				s.NumericLabels = nil
			case rules.PartTime:
				s.Time = rules.Times{}
			case rules.PartQuota:
				s.Quota = ""
			case rules.PartTrigger:
				r.ActivationPolicy.MinTriggerRequiredDuration = quota.OptionalDuration{}
			}
		}
	}
	return r
}

// A verdict accepts whom the selector accepts. The part that it names is the first one: the parts
// before it accept the workload, and with it they do not. From is the first later instant at which the
// selector accepts, asked at each.
func verdictsHold(t *rapid.T, reached map[rules.Part]int) {
	w := draw(t)
	e, err := selectors.New(w.cohorts, w.queues, []rules.Config{w.config})
	if err != nil {
		t.Fatal(err)
	}
	preemptor, candidate := job(t, "p"), job(t, "c")
	m := selectors.Moment{Now: moment(rapid.IntRange(0, 3).Draw(t, "now"))}
	m.Quota = pick(t, "holding", 0, selectors.AllQuota(), selectors.QuotaSet(0).With(rules.DRSLessThanInitialShare))
	if rapid.Bool().Draw(t, "seen") {
		m.Since = moment(rapid.IntRange(0, 3).Draw(t, "since"))
	}
	for _, trigger := range rules.Triggers() {
		tier, err := e.Tier(trigger, &preemptor)
		if err != nil {
			t.Fatal(err)
		}
		accepts := func(of rules.Match, parts int, m selectors.Moment) bool {
			one := w
			one.config.Rules = slices.Clone(w.config.Rules)
			one.config.Rules[of.Rule] = upTo(w.config.Rules[of.Rule], parts)
			return slices.Contains(one.selects(trigger, m, preemptor, candidate), of)
		}
		var asked []rules.Match
		for _, v := range tier.Verdicts(&candidate, m) {
			asked = append(asked, v.Match)
			at, all := slices.Index(rules.Parts(), v.Refuses), len(rules.Parts())
			reached[v.Refuses]++
			switch {
			case at < 0 && (v.Refuses != "" || !accepts(v.Match, all, m)):
				t.Fatalf("%v: %+v is not accepted", trigger, v)
			case at >= 0 && (!accepts(v.Match, at, m) || accepts(v.Match, at+1, m)):
				t.Fatalf("%v: %+v, but without the part %v and with it %v", trigger, v, accepts(v.Match, at, m), accepts(v.Match, at+1, m))
			}
			since := m.Since
			if since.IsZero() {
				since = m.Now
			}
			first := time.Time{}
			for later := m.Now; first.IsZero() && v.Refuses != "" && later.Before(moment(12)); {
				if later = later.Add(1); accepts(v.Match, all, selectors.Moment{Now: later, Since: since, Quota: m.Quota}) {
					first = later
				}
			}
			if !first.Equal(v.From) {
				t.Fatalf("%v: %+v is accepted from %v on", trigger, v, first)
			}
			if !first.IsZero() {
				reached["from"]++
			}
		}
		var want []rules.Match
		for i, r := range w.config.Rules {
			serves := w.queue(preemptor.Queue).Rules == "config" && r.ActivationPolicy.Trigger == trigger &&
				has(r.PreemptorSelector, preemptor.Labels) && named(r.PreemptorPriorityClass, preemptor.PriorityClass)
			if tier.ServesBy(i) != serves {
				t.Fatalf("rule %d serves: %v", i, !serves)
			}
			for j := range r.CandidateSelectors {
				if serves {
					want = append(want, rules.Match{Rule: i, Selector: j})
				}
			}
		}
		if !slices.Equal(asked, want) {
			t.Fatalf("%v: verdicts of %v, want %v", trigger, asked, want)
		}
	}
}

func TestVerdictsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { verdictsHold(t, map[rules.Part]int{}) })
}

// The law means something: of some states, always the same, each part refuses some.
func TestVerdictsReach(t *testing.T) {
	reached := map[rules.Part]int{}
	drawn := rapid.Custom(func(t *rapid.T) int { verdictsHold(t, reached); return 0 })
	for seed := range 200 {
		drawn.Example(seed)
	}
	for _, part := range append(rules.Parts(), "", "from") {
		if reached[part] < 5 {
			t.Errorf("%q: %d times", part, reached[part])
		}
	}
}

// A tier without rules, or of a queue without rules, says nothing; nor does one of a candidate in an
// unknown queue.
func TestVerdictsOfNobody(t *testing.T) {
	e := evaluator(t, rule("r", rules.Always, anybody))
	for _, c := range []struct {
		trigger   rules.Trigger
		preemptor string
		candidate string
		want      int
	}{{rules.Always, "q", "other", 1}, {rules.Always, "q", "unknown", 0}, {rules.InsufficientQuota, "q", "other", 0}, {rules.Always, "other", "q", 0}} {
		tier, err := e.Tier(c.trigger, &workload.Workload{ID: "p", Queue: c.preemptor})
		if err != nil {
			t.Fatal(err)
		}
		if got := tier.Verdicts(&workload.Workload{ID: "c", Queue: c.candidate}, selectors.Moment{Now: moment(0)}); len(got) != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
