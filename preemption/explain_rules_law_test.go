package preemption_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue/rules"
)

// An explanation with rules has the decision that Decide makes. Each of its tiers holds if the decision says so; each selector that serves
// the preemptor counts each running workload once, and accepts whom the evaluator accepts. The candidates that rules took name the rules
// that the victims name.
func explanationsOfRulesHold(t *rapid.T, reached map[string]int) {
	record := preemptiontest.Records().Draw(t, "record")
	st, r := record.State, *record.Request
	config := preemptiontest.Configs().Draw(t, "config")
	r.Room = drawRoom(t, st)
	st.Rules = []rules.Config{drawRules(t, &st, &r.Workload)}
	config.Compat.RulesAlone = rapid.IntRange(0, 3).Draw(t, "rules instead") == 0
	s := snapshotOf(t, st)
	e := explainWith(t, config, s, r)
	d := decideWith(t, config, s, r)
	noDiff(t, "- Decide, + Explain", d, e.Decision, sameDecision)
	evaluator := must(selectors.New(st.Cohorts, st.Queues, st.Rules))(t)
	steps := e.RuleSteps()
	if len(steps) == 0 || (steps[0].Title == "") != (len(d.Triggers) == 0) {
		t.Fatalf("%v: %+v", d.Triggers, steps)
	}
	for _, step := range steps {
		trigger, said, _ := strings.Cut(step.Title, ": ")
		if step.Title == "" {
			continue
		}
		holds := slices.Contains(d.Triggers, rules.Trigger(trigger))
		if holds != strings.HasPrefix(said, "holds") {
			t.Fatalf("%v of %v: %+v", d.Triggers, d.Outcome, step)
		}
		of, err := evaluator.Tier(rules.Trigger(trigger), &r.Workload)
		switch {
		case !holds:
			reached["does not hold"]++
		case err != nil:
			if reached["bad"]++; !strings.Contains(step.Lines[0], "a selector is bad") || len(step.MayYield)+len(step.Kept) > 0 {
				t.Fatalf("%v: %+v", err, step)
			}
		default:
			tierHolds(t, &st, &r, step, of, reached)
		}
	}
	text := explain.Printer{Width: -1}.Text(e.Steps)
	for _, v := range d.Victims {
		if said := " by " + explain.RulesText(v.Rules) + ": "; len(v.Rules) > 0 && len(d.Victims) <= 16 && len(d.Counts) == 0 && config.Search == preemption.Greedy {
			if reached["victim"]++; !strings.Contains(text, said) {
				t.Fatalf("%s is no victim%sin\n%s", v.Workload, said, text)
			}
		}
	}
}

var (
	ofSelector = regexp.MustCompile(`^rule (\S+) selector (\d+): `)
	ofPart     = regexp.MustCompile(`(accepts|\w+ refuses) (\d+)(, .*?until)?`)
)

// tierHolds: each selector counts each running workload once.
func tierHolds(t *rapid.T, st *preemption.State, r *preemption.Request, step explain.Step, of *selectors.Tier, reached map[string]int) {
	running, accepted := 0, map[string]int{} // whatever holds of quota
	for i := range st.Admitted {
		if st.Admitted[i].ID == r.Workload.ID {
			continue
		}
		running++
		for _, m := range of.Select(&st.Admitted[i], selectors.Moment{Now: r.Now, Since: r.Now.AddDate(-9, 0, 0), Quota: selectors.AllQuota()}) {
			accepted[fmt.Sprint(st.Rules[0].Rules[m.Rule].Name, m.Selector)]++
		}
	}
	for _, line := range step.Lines {
		if strings.Contains(line, " may yield: ") {
			reached["may yield"]++
		}
		if strings.HasPrefix(line, "accepted, but ") {
			reached["kept"]++
		}
		if strings.Contains(line, "nothing of what is short") {
			reached["uses nothing"]++
		}
		at := ofSelector.FindStringSubmatch(line)
		if at == nil {
			continue
		}
		sum := 0
		for _, part := range ofPart.FindAllStringSubmatch(line, -1) {
			n, _ := strconv.Atoi(part[2])
			if sum += n; n == 0 || part[1] == "accepts" && n > accepted[at[1]+at[2]] {
				t.Fatalf("%d of %d: %s", accepted[at[1]+at[2]], running, line)
			}
			if reached[strings.TrimSuffix(part[1], " refuses")]++; part[3] != "" {
				reached["from"]++
			}
		}
		if sum != running && !strings.HasSuffix(line, ": no workload runs") {
			t.Fatalf("%d of %d: %s", sum, running, line)
		}
	}
}

func TestExplanationsOfRulesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { explanationsOfRulesHold(t, map[string]int{}) })
}

// The law means something: drawn states, always the same, reach what it is about.
func TestExplanationsOfRulesReach(t *testing.T) {
	reached := map[string]int{}
	drawn := rapid.Custom(func(t *rapid.T) int { explanationsOfRulesHold(t, reached); return 0 })
	for seed := range 400 {
		drawn.Example(seed)
	}
	for _, what := range []string{"does not hold", "bad", "from", "scope", "labelSelector", "priority", "numericLabels", "time", "minTriggerRequiredDuration", "quota", "may yield", "kept", "uses nothing", "victim"} {
		if reached[what] < 3 {
			t.Errorf("%s: %d times", what, reached[what])
		}
	}
}
