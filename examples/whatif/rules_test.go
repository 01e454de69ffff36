package main

import (
	"strings"
	"testing"
)

// ruledQueue is a queue that refers to the rules "c", and a PreemptionConfig of that name with a spec; in the
// queue runs job n/runs, and n/waits waits.
func ruledQueue(spec string) string {
	return `
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: q, annotations: {kueue.x-k8s.io/preemption-config: c}}
spec:
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]
---
apiVersion: kueue.x-k8s.io/v1alpha1
kind: PreemptionConfig
metadata: {name: c}
spec: ` + spec + `
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: f}
`
}

// A queue whose rules are in the input and cannot be read has a note that they were left out.
func TestRulesThatAreLeftOut(t *testing.T) {
	for spec, want := range map[string]string{
		`{rules: [{name: r, activationPolicy: {trigger: Always, minTriggerRequiredDuration: 2 hours}}]}`: `spec.rules[0].activationPolicy.minTriggerRequiredDuration: "2 hours" is not a duration`,
		`{rules: [` + strings.Repeat(`{name: r}, `, 65) + `]}`:                                           "spec.rules: 65: more than 64",
	} {
		_, stdout, stderr := call(strings.NewReader(ruledQueue(spec)), "-request", "cpu=1", "-queue", "q")
		text := strings.Join(strings.Fields(stdout), " ")
		if stderr != "" || !strings.Contains(text, "ClusterQueue q refers to PreemptionConfig c, which was left out") || !strings.Contains(text, want) {
			t.Errorf("%q, want %s:\n%s", stderr, want, stdout)
		}
	}
}

// With rules alone the answer speaks of rules, and says which trigger or part of a selector refuses.
func TestRulesAloneAreNamed(t *testing.T) {
	const running = `---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: runs, namespace: ns, creationTimestamp: "2026-11-20T08:00:00Z"}
spec: {queueName: main, podSets: [{name: main, count: 4}]}
status:
  admission: {clusterQueue: q, podSetAssignments: [{name: main, count: 4, flavors: {cpu: f}, resourceUsage: {cpu: 4}}]}
  conditions: [{type: QuotaReserved, status: "True", lastTransitionTime: "2026-11-20T11:00:00Z"}]
`
	rule := func(trigger, selector string) string {
		return `{rules: [{name: r, activationPolicy: {trigger: ` + trigger + `}, candidateSelectors: [` + selector + `]}]}`
	}
	for _, c := range []struct {
		spec string
		want []string
	}{
		{rule("Always", `{scope: WithinClusterQueue, priority: {mode: Boosted, comparison: LessThan}}`), []string{"does not fit", "rule r selector 0", "Always: holds", "priority refuses 1: ns/runs"}},
		{rule("Always", `{scope: WithinClusterQueue, time: {minExecutionDuration: 2h}}`), []string{"that the rules permit now", "time refuses 1, until 13:00:00.000000001: ns/runs"}},
		{rule("QuotaFeasibleAndInsufficientTopology", `{scope: WithinClusterQueue}`), []string{"QuotaFeasibleAndInsufficientTopology", "does not hold"}},
		{rule("Always", ""), []string{"rule r has no selector"}},
		{`{rules: [{name: r, preemptorSelector: {matchLabels: {hero: x}}, activationPolicy: {trigger: Always}, candidateSelectors: [{scope: WithinClusterQueue}]}]}`, []string{"rule r is not for this workload"}},
	} {
		status, stdout, stderr := call(strings.NewReader(ruledQueue(c.spec)+running), "-request", "cpu=4", "-queue", "q", "-rules-alone", "-at", now)
		text := strings.Join(strings.Fields(stdout), " ")
		for _, want := range c.want {
			if status != 1 || stderr != "" || !strings.Contains(text, want) || strings.Contains(strings.ReplaceAll(text, "in place of the policies", ""), "policies") {
				t.Errorf("%s: %d, %q, want %s:\n%s", c.spec, status, stderr, want, stdout)
			}
		}
	}
}

// Bad rules of a State have notes, as those of a PreemptionConfig have.
func TestBadRulesOfAState(t *testing.T) {
	const rule = `{"name":"r","activationPolicy":{"trigger":"Always"},"candidateSelectors":[{"scope":"WithinClusterQueue"}]}`
	for _, c := range []struct{ refers, rules, want string }{
		{"c", `{"name":"c","rules":[` + rule + `]}`, ""},
		{"c", `{"name":"c","rules":[` + strings.Replace(rule, "Always", "Often", 1) + `]}`, `Note: rules c: not valid: rules[0].activationPolicy.trigger: "Often" is none of`},
		{"c", `{"name":"c","rules":[` + rule + "," + rule + `]}`, `Note: rules c: not valid: rules[1].name: "r" is also the name of rules[0]`},
		{"c", `{"name":"c","ordering":[{"key":"Colour"},{"key":"Size"}]}`, `(and 1 more fault)`},
		{"gone", `{"name":"c","rules":[` + rule + `]}`, "Note: queue q refers to rules gone, which are not in the input: it has no rules."},
	} {
		state := `{"queues":[{"name":"q","rules":"` + c.refers + `","quotas":[{"flavor":"f","resource":"cpu","nominal":4}]}],"rules":[` + c.rules + `]}`
		record := `{"state":` + state + `,"request":{"workload":{"id":"w","queue":"q","podSets":[{"name":"m","count":1,"requests":[{"flavor":"f","resource":"cpu","amount":1}]}]},"now":"2026-11-20T12:00:00Z"}}`
		for _, in := range [][]string{{state, "-request", "cpu=1", "-queue", "q"}, {record}} {
			_, stdout, stderr := call(strings.NewReader(in[0]), in[1:]...)
			text := strings.Join(strings.Fields(stdout), " ")
			if stderr != "" || !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "Note") {
				t.Errorf("%s: %q, want %s:\n%s", in[0], stderr, c.want, stdout)
			}
		}
	}
}
