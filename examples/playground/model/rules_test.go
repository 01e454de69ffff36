package model

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ruled is the model of a cluster with preemption rules.
func ruled(t *testing.T) *Model {
	t.Helper()
	f := must(os.Open("../../internal/answers/samples/rules.yaml"))(t)
	defer f.Close()
	d := must(Read(f, "rules.yaml", time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))(t)
	d.Selected = "prod/hero"
	return must(New(d))(t)
}

// Rules are shown, a victim names those that accept it; a rule switched off, a queue that refers to
// other rules, changed and new rules change the answers, and taking it back brings all back.
func TestRules(t *testing.T) {
	m := ruled(t)
	before, _ := m.JSON()
	list := call[[]RulesView](t, m, "rules", `{}`)
	if len(list) != 2 || list[0].Name != "draft" && list[1].Name != "draft" {
		t.Fatalf("%+v", list)
	}
	hero := list[slices.IndexFunc(list, func(v RulesView) bool { return v.Name == "hero" })]
	want := RulesView{Name: "hero", Queues: []string{"prod"}, JSON: hero.JSON, Rules: []RuleView{
		{"others-yield", "Always: WithinClusterQueue, AnyClusterQueue", true}, {"spot-yields", "InsufficientQuota: OtherInCohortTree", true}}}
	if diff := cmp.Diff(want, hero); diff != "" {
		t.Error(diff)
	}
	if a := m.Ask(); a.Outcome != "Preempt" || len(a.Victims) != 1 || a.Victims[0].Rules != "config hero, rule others-yield selector 1" {
		t.Errorf("%+v", a.Victims)
	}
	outcome := func(edits, want string) {
		t.Helper()
		call[any](t, m, "set", `{"edits":[`+edits+`]}`)
		if a := m.Ask(); a.Outcome != want {
			t.Errorf("%s: %s, want %s", edits, a.Outcome, want)
		}
	}
	outcome(`{"kind":"rule","node":"hero","field":"others-yield","value":"off"}`, "Impossible")
	if v := m.Rules(); v[slices.IndexFunc(v, func(v RulesView) bool { return v.Name == "hero" })].Rules[0].On || len(m.doc.Edits) != 1 {
		t.Errorf("%+v", v)
	}
	outcome(`{"kind":"rule","node":"hero","field":"others-yield","value":"on"}`, "Preempt")
	outcome(`{"kind":"policy","node":"prod","field":"rules","value":"none"}`, "Impossible")
	outcome(`{"kind":"policy","node":"prod","field":"rules","value":"hero"}`, "Preempt")
	if n := len(m.doc.Edits); n != 0 {
		t.Errorf("%d edits: %+v", n, m.doc.Edits)
	}
	changed := strings.ReplaceAll(strings.ReplaceAll(hero.JSON, `"true"`, `"no"`), "\n", "")
	value, _ := json.Marshal(changed)
	outcome(`{"kind":"rules","node":"hero","value":`+string(value)+`}`, "Impossible")
	outcome(`{"kind":"rules","node":"hero","value":""}`, "Impossible")
	fresh := `{"name":"fresh","rules":[{"name":"any","activationPolicy":{"trigger":"Always"},"candidateSelectors":[{"scope":"OtherClusterQueue"}]}]}`
	value, _ = json.Marshal(fresh)
	outcome(`{"kind":"rules","node":"fresh","value":`+string(value)+`},{"kind":"policy","node":"prod","field":"rules","value":"fresh"}`, "Preempt")
	if a := m.Ask(); !strings.HasPrefix(a.Victims[0].Rules, "config fresh, rule any selector 0") {
		t.Errorf("%+v", a.Victims)
	}
	call[any](t, m, "unset", `{"key":""}`)
	if after, _ := m.JSON(); string(after) != string(before) {
		t.Errorf("after all edits are taken back:\n%s\nwant\n%s", after, before)
	}
}

// Limits of the input count; a bad edit of rules changes nothing and says what is wrong.
func TestRuleErrors(t *testing.T) {
	m := ruled(t)
	if len(m.Document().Limits) != 1 || len(m.now.Config.Limits) != 1 {
		t.Errorf("%+v", m.Document().Limits)
	}
	value := func(node, text string) string {
		quoted, _ := json.Marshal(text)
		return fmt.Sprintf(`{"kind":"rules","node":%q,"value":%s}`, node, quoted)
	}
	for edit, want := range map[string]string{
		value("hero", `{`):                "rules hero: changed: JSON ends early, at offset 1",
		value("hero", `{"name":"other"}`): `rules hero: changed: name: "other": it stays "hero"`,
		value("", `{}`):                   "new rules: name: is empty",
		value("hero", `{"name":"hero","rule":[],"rules":[{"name":"a","cooldown":"5m","activationPolicy":{"trigger":"Always","minTriggerRequiredDuration":"2 hours"}}]}`): "rules hero: changed: rule: unknown field \"rule\"; rules[0].cooldown: unknown field \"cooldown\"; rules[0].activationPolicy.minTriggerRequiredDuration: \"2 hours\" is not a duration",
		value("hero", `{"name":"hero","name":"hero"}`):                     "name: is there twice",
		value("hero", `{"name":"hero","rules":[{}]}`):                      "rules[0].name",
		`{"kind":"rule","node":"hero","field":"none","value":"off"}`:       "have no rule",
		`{"kind":"policy","node":"prod","field":"rules","value":"gone"}`:   `there are no rules "gone"`,
		`{"kind":"policy","node":"nobody","field":"rules","value":"hero"}`: "there is no queue",
	} {
		if _, err := m.Call("set", []byte(`{"edits":[`+edit+`]}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", edit, err, want)
		}
		if a := m.Ask(); a.Outcome != "Preempt" || len(m.Document().Edits) != 0 {
			t.Errorf("%s: %+v", edit, a)
		}
	}
}
