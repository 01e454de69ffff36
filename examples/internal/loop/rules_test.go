package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/world"
)

func rulesFile(t *testing.T, spec string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	text := "apiVersion: kueue.x-k8s.io/v1alpha1\nkind: PreemptionConfig\nmetadata: {name: c}\nspec: " + spec + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "rules=" + file
}

func oneRule(selector string) string {
	return `{rules: [{name: r, activationPolicy: {trigger: Always}, candidateSelectors: [` + selector + `]}]}`
}

// Rules alone that say what the policy of the queue says lose the same; rules that accept no job evict
// none; after the policies they change nothing here; with a minimum running time the victim goes when
// that is over.
func TestRules(t *testing.T) {
	s := world.Defaults()
	s.Restart, s.Grace = 60, 30
	run := func(policy string) Result {
		return replay(t, small(s, world.Job{Work: 3 * hour}, world.Job{Work: hour, Submit: 5400, Priority: 10}), policy)
	}
	policies := run("greedy")
	const lower = `{scope: WithinClusterQueue, priority: {mode: Base, comparison: LessThan}}`
	if r := run("rulesalone+" + rulesFile(t, oneRule(lower))); r.Redone != policies.Redone || r.End != policies.End || r.Evictions != 1 {
		t.Errorf("as the policy: %d redone, ends at %d, %d evictions; want %d, %d", r.Redone, r.End, r.Evictions, policies.Redone, policies.End)
	}
	none := rulesFile(t, oneRule(`{scope: WithinClusterQueue, labelSelector: {matchLabels: {not: there}}}`))
	if r := run("rulesalone+" + none); r.Evictions != 0 || r.Redone != 0 {
		t.Errorf("none: %d evictions", r.Evictions)
	}
	if r := run(none); r.Redone != policies.Redone || r.End != policies.End {
		t.Errorf("after the policies: %d redone, ends at %d", r.Redone, r.End)
	}
	later := run("rulesalone+" + rulesFile(t, oneRule(`{scope: WithinClusterQueue, time: {minExecutionDuration: 2h}}`)))
	s.MinRuntime = 2 * hour
	if guarded := run("greedy"); later.Evictions < 1 || later.Redone != guarded.Redone || later.End == policies.End {
		t.Errorf("after two hours: %d redone, ends at %d, %d evictions; want %d, %d", later.Redone, later.End, later.Evictions, guarded.Redone, guarded.End)
	}
}

// A list as kubectl prints it, of one configuration, is read as the configuration alone.
func TestRulesInAList(t *testing.T) {
	for _, text := range []string{
		`{"apiVersion":"v1","kind":"List","items":[%]}`,
		`{"apiVersion":"kueue.x-k8s.io/v1alpha1","kind":"PreemptionConfigList","metadata":{},"items":[%]}`,
		`%`,
	} {
		text = strings.Replace(text, "%", oneConfig("PreemptionConfig", "c"), 1)
		p, err := ParsePolicy(fileOf(t, text))
		if err != nil || p.rules.Name != "c" || len(p.rules.Rules) != 1 {
			t.Errorf("%s: %v, %+v", text, err, p.rules)
		}
	}
}

// oneConfig is an object of a kind with a rule.
func oneConfig(kind, name string) string {
	return `{"apiVersion":"kueue.x-k8s.io/v1alpha1","kind":"` + kind + `","metadata":{"name":"` + name + `"},"spec":{"rules":[{"name":"r","activationPolicy":{"trigger":"Always"},"candidateSelectors":[{"scope":"WithinClusterQueue"}]}]}}`
}

// fileOf is the word of a file with a text.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "rules=" + file
}

func TestBadRules(t *testing.T) {
	for policy, want := range map[string]string{
		"rulesalone":      "needs rules=FILE",
		"rules=none.yaml": "no such file",
		rulesFile(t, `{rules: [{name: r, activationPolicy: {trigger: Often}}]}`):                                  "is none of",
		rulesFile(t, `{rules: [{name: r, cooldown: 5m, activationPolicy: {trigger: Always}}]}`):                   "is not known here",
		rulesFile(t, `{rules: [{name: r, activationPolicy: {trigger: Always, minTriggerRequiredDuration: 1h}}]}`): "is not replayed",
		rulesFile(t, `{rules: 3}`): "spec.rules: want a list, found a number",
		fileOf(t, oneConfig("PreemptionConfig", "a")+oneConfig("PreemptionConfig", "b")):                         "it has 2 PreemptionConfigs, a and b: want one",
		fileOf(t, oneConfig("PreemptionConfig", "a")+oneConfig("PreemptionConfig", "a")):                         "it has 2 PreemptionConfigs, a and a: want one",
		fileOf(t, oneConfig("PreemptionLimit", "a")):                                                             "PreemptionLimit a: want a PreemptionConfig of kueue.x-k8s.io",
		fileOf(t, oneConfig("PreemptionConfig", "a")+`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}`): "Pod p: want a PreemptionConfig",
		fileOf(t, oneConfig("PreemptionConfig", "a")) + "+" + fileOf(t, oneConfig("PreemptionConfig", "b")):      "another rules= is there already: give one",
		fileOf(t, `{"apiVersion":"v1","kind":"List","items":[]}`):                                                "want a PreemptionConfig with rules",
		fileOf(t, ``): "it is empty",
		fileOf(t, strings.Replace(oneConfig("PreemptionConfig", "a"), `"Always"`, `"Always","minTriggerRequiredDuration":"2 hours"`, 1)): `spec.rules[0].activationPolicy.minTriggerRequiredDuration: "2 hours" is not a duration`,
		rulesFile(t, `{}`): "want a PreemptionConfig with rules",
	} {
		if _, err := ParsePolicy(policy); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", policy, err, want)
		}
	}
}
