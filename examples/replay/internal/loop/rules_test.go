package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/replay/internal/world"
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

// Rules alone that say what the policy of the queue says lose the same; rules that accept nobody evict
// nobody; after the policies they change nothing here; with a minimum running time the victim goes when
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
	nobody := rulesFile(t, oneRule(`{scope: WithinClusterQueue, labelSelector: {matchLabels: {not: there}}}`))
	if r := run("rulesalone+" + nobody); r.Evictions != 0 || r.Redone != 0 {
		t.Errorf("nobody: %d evictions", r.Evictions)
	}
	if r := run(nobody); r.Redone != policies.Redone || r.End != policies.End {
		t.Errorf("after the policies: %d redone, ends at %d", r.Redone, r.End)
	}
	later := run("rulesalone+" + rulesFile(t, oneRule(`{scope: WithinClusterQueue, time: {minExecutionDuration: 2h}}`)))
	s.MinRuntime = 2 * hour
	if guarded := run("greedy"); later.Evictions < 1 || later.Redone != guarded.Redone || later.End == policies.End {
		t.Errorf("after two hours: %d redone, ends at %d, %d evictions; want %d, %d", later.Redone, later.End, later.Evictions, guarded.Redone, guarded.End)
	}
}

func TestBadRules(t *testing.T) {
	for policy, want := range map[string]string{
		"rulesalone":      "needs rules=FILE",
		"rules=none.yaml": "no such file",
		rulesFile(t, `{rules: [{name: r, activationPolicy: {trigger: Often}}]}`):                                  "is none of",
		rulesFile(t, `{rules: [{name: r, cooldown: 5m, activationPolicy: {trigger: Always}}]}`):                   "is not known here",
		rulesFile(t, `{rules: [{name: r, activationPolicy: {trigger: Always, minTriggerRequiredDuration: 1h}}]}`): "is not replayed",
		rulesFile(t, `{rules: 3}`): "cannot unmarshal",
		rulesFile(t, `{}`):         "want a PreemptionConfig with rules",
	} {
		if _, err := ParsePolicy(policy); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", policy, err, want)
		}
	}
}
