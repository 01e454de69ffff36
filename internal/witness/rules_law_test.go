package witness_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

// TestRules: the engine and the witness decide alike by the rules of an operator. It fails, too, if less than one in a
// thousand questions has something of which the rules speak. By hand:
//
//	go test ./internal/witness -run TestRules -rapid.seed 41 -rapid.checks 10000
func TestRules(t *testing.T) {
	drawn := map[string]int{}
	ask(t, ruledQuestions(), func(q question, d preemption.Decision) { count(drawn, q, d) })
	for _, name := range wanted() {
		if drawn[name] < drawn["questions"]/1000 {
			t.Errorf("%d of %d questions have %s", drawn[name], drawn["questions"], name)
		}
	}
	t.Log(drawn)
}

func ruledQuestions() *rapid.Generator[question] {
	return rapid.Custom(func(t *rapid.T) question {
		q := questions(func(c *preemption.Config) {
			c.Compat.Kueue016 = c.Compat.Kueue016 && c.Sharing != preemption.Stable
		}).Draw(t, "question")
		if rapid.IntRange(0, 7).Draw(t, "without flavors") == 0 {
			q.Record = preemptiontest.RecordsWithoutFlavors().Draw(t, "record")
		}
		ruled{t}.change(&q)
		if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
			limit(t, &q)
			ruled{t}.name(&q)
		}
		if rapid.IntRange(0, 2).Draw(t, "with a room") == 0 {
			q.Record.Request.Room = placesFor(t, q)
		}
		return q
	})
}

// count notes what a question has of which the rules speak, and how it was answered.
func count(drawn map[string]int, q question, d preemption.Decision) {
	drawn["questions"]++
	seen := map[string]bool{
		"rules alone": q.Config.Compat.RulesAlone, "limits": q.Config.Limits != nil, "a room": q.Record.Request.Room != nil,
		"bad selectors": len(d.RuleFaults) > 0, "a trigger that holds": len(d.Triggers) > 0,
		"no flavor": len(d.Assignment) > 0, "a wait": len(d.Triggers) > 0 && d.Outcome == preemption.Wait,
	}
	for _, v := range d.Victims {
		for _, by := range v.Rules {
			seen["victims by "+string(by.Trigger)] = true
		}
		seen["victims of both"] = seen["victims of both"] || len(v.Rules) > 0 && slices.ContainsFunc(d.Victims, ofPolicy)
		seen["victims that leave by rules"] = seen["victims that leave by rules"] || len(v.Rules) > 0 && v.Leaving
		seen["replicas that leave by rules"] = seen["replicas that leave by rules"] || len(v.Rules) > 0 && len(v.Replicas) > 0
	}
	for _, c := range q.Record.State.Rules {
		if c.Name == rulesOf(q) {
			countConfig(seen, c)
		}
	}
	for name, has := range seen {
		if has {
			drawn[name]++
		}
	}
}

func ofPolicy(v preemption.Victim) bool { return len(v.Rules) == 0 }

// rulesOf is the name to which the preemptor's queue refers.
func rulesOf(q question) string {
	i := slices.IndexFunc(q.Record.State.Queues, func(one queue.Queue) bool { return one.Name == q.Record.Request.Workload.Queue })
	return q.Record.State.Queues[i].Rules
}

func countConfig(seen map[string]bool, c rules.Config) {
	for _, o := range c.Ordering {
		seen[string(o.Key)+" "+string(o.Direction)] = true
	}
	for _, r := range c.Rules {
		seen[string(r.ActivationPolicy.Trigger)] = true
		seen["a duration of "+string(r.ActivationPolicy.Trigger)] = r.ActivationPolicy.MinTriggerRequiredDuration.Or(0) > 0
		for _, s := range r.CandidateSelectors {
			seen[string(s.Scope)], seen[string(s.Quota)] = true, true
			seen[string(s.Priority.Mode)+" "+string(s.Priority.Comparison)] = true
			seen["numeric labels"] = seen["numeric labels"] || len(s.NumericLabels) > 0
			seen["times"] = seen["times"] || !s.Time.IsZero()
		}
	}
}

// wanted lists what some questions must have.
func wanted() []string {
	list := []string{
		"rules alone", "no flavor", "limits", "a room", "bad selectors", "a trigger that holds", "a wait", "victims of both",
		"victims that leave by rules", "replicas that leave by rules", "numeric labels", "times",
	}
	for _, t := range rules.Triggers() {
		list = append(list, string(t), "a duration of "+string(t), "victims by "+string(t))
	}
	for _, s := range rules.Scopes() {
		list = append(list, string(s))
	}
	for _, q := range rules.QuotaConstraints() {
		list = append(list, string(q))
	}
	for _, k := range rules.OrderingKeys() {
		list = append(list, string(k)+" "+string(rules.Ascending), string(k)+" "+string(rules.Descending))
	}
	for _, c := range []rules.Comparison{rules.LessThan, rules.LessThanOrEqual, rules.GreaterThan, rules.GreaterThanOrEqual} {
		list = append(list, string(rules.Base)+" "+string(c), string(rules.Boosted)+" "+string(c))
	}
	return list
}
