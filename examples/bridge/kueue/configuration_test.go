package kueue_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
)

// configMapOf is a ConfigMap with a configuration of Kueue's manager.
func configMapOf(text string) string {
	quoted, _ := json.Marshal("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n" + text)
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"},"data":{"config.yaml":` + string(quoted) + `}}`
}

// A configuration that cannot be read is left out; the warning names the ConfigMap, its key and the field.
func TestOddConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"fairSharing: true\n":                         "ConfigMap n/c: data[config.yaml].fairSharing: want an object, found a bool: left out",
		"fairSharing:\n  preemptionStrategies: [5]\n": "ConfigMap n/c: data[config.yaml].fairSharing.preemptionStrategies[0]: want a string, found a number: left out",
		"a: 1\n---\nb: 2\n":                           "ConfigMap n/c: data[config.yaml]: more follows after the first document: left out",
		"a: [\n":                                      "ConfigMap n/c: data[config.yaml]: yaml: line 3: did not find expected node content: left out",
		"a: &a \"" + strings.Repeat("x", 300<<10) + "\"\nb: [" + strings.Repeat("*a, ", 100_000) + "]\n": "ConfigMap n/c: data[config.yaml]: line 3: more than 64 MiB in one document, with what its aliases stand for: left out",
	} {
		c := mustRead(t, list(gpuQueue("a", 1), item("ResourceFlavor", "h100", ""), configMapOf(text)))
		if len(c.Warnings) != 1 || c.Warnings[0] != want || c.Sharing.Known || len(c.DoubtsOn("", "a")) != 1 {
			t.Errorf("%.60q: %q, %+v, want %q", text, c.Warnings, c.Sharing, want)
		}
	}
}

// Strategies that no decision takes are left out where they are read.
func TestOddStrategies(t *testing.T) {
	for text, want := range map[string]string{
		"LessThanInitialShare, LessThanOrEqualToFinalShare": "ConfigMap n/c: fairSharing.preemptionStrategies: [LessThanInitialShare LessThanOrEqualToFinalShare]: want one of the two, or LessThanOrEqualToFinalShare before LessThanInitialShare: left out",
		"LessThanInitialShare, LessThanInitialShare":        "ConfigMap n/c: fairSharing.preemptionStrategies: [LessThanInitialShare LessThanInitialShare]: want one of the two, or LessThanOrEqualToFinalShare before LessThanInitialShare: left out",
		"LessThanOrEqualToFinalShare, LessThanInitialShare": "",
		"LessThanInitialShare":                              "",
		"":                                                  "",
	} {
		c := mustRead(t, list(gpuQueue("a", 1), configMapOf("fairSharing:\n  preemptionStrategies: ["+text+"]\n")))
		if all := strings.Join(c.Warnings, "\n"); all != want || c.Sharing.On != (want == "") {
			t.Errorf("%s: %q, %+v, want %q", text, all, c.Sharing, want)
		}
		config := preemption.Config{Sharing: preemption.Fair}
		config.Strategies = c.Sharing.Strategies
		if _, err := preemption.New(config); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Kueue does not look at resources with the prefixes of its configuration: those that wait do not request
// them. What is left is transformed: outputs for one input add up, with those of others and with what is asked for, and are
// never less than zero; a factor multiplies.
func TestResources(t *testing.T) {
	waits := item("Workload", "n/w", `"spec":{"podSets":[{"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1","example.com/a":"2","example.com/b":"3","other/example.com":"4"}}}]}}}]}`)
	const prefixes = "resources:\n  excludeResourcePrefixes: [example.com/]\n"
	for text, want := range map[string]string{
		prefixes: "cpu 1000, other/example.com 4",
		prefixes + "  transformations:\n  - {input: cpu, outputs: {credits: 2, other/example.com: 3}}\n":                                                "cpu 1000, credits 2, other/example.com 7",
		prefixes + "  transformations:\n  - {input: cpu, strategy: Replace, outputs: {credits: 500m}}\n":                                                "credits 1, other/example.com 4",
		prefixes + "  transformations:\n  - {input: other/example.com, strategy: Replace, outputs: {cpu: -1}}\n":                                        "cpu 1000",
		prefixes + "  transformations:\n  - {input: other/example.com, multiplyBy: cpu, outputs: {credits: 2}}\n  - {input: absent, outputs: {x: 1}}\n": "cpu 1000, credits 8, other/example.com 4",
		"resources:\n  transformations:\n  - {input: example.com/a, outputs: {example.com/b: 1}}\n":                                                     "cpu 1000, example.com/a 2, example.com/b 5, other/example.com 4",
	} {
		for _, configuration := range []string{configMapOf(text), ""} {
			all := list(waits, configuration)
			if configuration == "" {
				all = list(waits) + "\n---\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n" + text
			}
			var got []string
			for _, r := range mustRead(t, all).Pending[0].Workload.PodSets[0].Requests {
				got = append(got, fmt.Sprintf("%s %d", r.Resource, r.Amount))
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
	}
}

// Fields of a configuration that are not known or are there twice leave every answer in doubt, with the path,
// but for what is twice in a part that no decision depends on.
func TestFieldsOfConfiguration(t *testing.T) {
	const head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
	unknown, twice := " is not a field that is known", " is there twice: the last one counts"
	for text, want := range map[string]string{
		"fairSharing: {preemptionStrategies: []}\nresources: {transformations: [{input: a, strategy: Retain}]}\nwebhook: {port: 1}\nfeatureGates: {PartialAdmission: true}\n": "",
		"featureGates: {X: true}\n":                                        "featureGates.X" + unknown,
		"featureGates: {FlavorFungibility: false}\n":                       "featureGates.FlavorFungibility is not modelled",
		"fairSharing: {enabled: true}\n":                                   "fairSharing.enabled" + unknown,
		"fairSharing: {enable: true, enable: false}\n":                     "fairSharing.enable" + twice,
		"fairSharing: {}\nfairSharing: {enable: false}\n":                  "fairSharing" + twice,
		"preemptionStrategies: []\n":                                       "preemptionStrategies" + unknown,
		"resources: {transformations: [{input: a, factor: 2}]}\n":          "resources.transformations[0].factor" + unknown,
		"x: &x {enable: true}\nfairSharing: {<<: *x, enable: false}\n":     "x" + unknown,
		"fairSharing: {<<: {enable: true}, enable: false}\n":               "",
		"fairSharing: {<<: {enable: true}, enable: false, enable: true}\n": "fairSharing.enable" + twice,
		"webhook: {port: 1, port: 2}\nfairSharing: {}\n":                   "-webhook.port" + twice,
		"# <<\nfairSharing: {enable: true, enable: false}\n":               "fairSharing.enable" + twice,
	} {
		harmless := strings.HasPrefix(want, "-")
		want = strings.TrimPrefix(want, "-")
		for name, c := range map[string]struct{ text, at string }{
			"YAML":      {head + text, "the Configuration: "},
			"ConfigMap": {list(configMapOf(text)), "ConfigMap n/c: data[config.yaml]."},
		} {
			got := mustRead(t, c.text+"\n---\n"+gpuQueue("a", 1)+"\n---\n"+item("ResourceFlavor", "h100", ""))
			notes := strings.Join(got.Warnings, "\n")
			doubts := got.DoubtsOn("", "a")
			if told := want == "" || strings.Contains(notes, c.at+want); !told || (len(doubts) > 0) != (want != "" && !harmless) || want == "" && strings.Contains(notes, "known") {
				t.Errorf("%s: %q: %q, doubts %+v, want %q", name, text, notes, doubts, want)
			}
		}
	}
	for text, want := range map[string]string{
		`"fairSharing":{"enable":true,"enable":false}`: "fairSharing.enable" + twice, `"fairSharing":{},"fairSharing":{}`: "fairSharing" + twice, `"fairsharing":{}`: "fairsharing" + unknown,
	} {
		got := mustRead(t, list(gpuQueue("a", 1), item("ResourceFlavor", "h100", ""), `{"apiVersion":"config.kueue.x-k8s.io/v1beta2","kind":"Configuration",`+text+`}`))
		if doubts := got.DoubtsOn("", "a"); len(doubts) != 1 || doubts[0].Text != "the Configuration: "+want {
			t.Errorf("%s: %+v, %q", text, doubts, got.Warnings)
		}
	}
}

// What is in no namespace has its name alone as key: one with a namespace is the same object.
func TestNoNamespace(t *testing.T) {
	rules := `"spec":{"rules":[]}`
	limit := `"spec":{"scope":"Global","limit":3,"window":"1h"}`
	of := func(id string) []string {
		return []string{item("ClusterQueue", id, ""), item("Cohort", id, ""), item("ResourceFlavor", id, ""),
			itemOf("kueue.x-k8s.io/v1alpha1", "PreemptionConfig", id, rules), itemOf("kueue.x-k8s.io/v1alpha1", "PreemptionLimit", id, limit)}
	}
	c := mustRead(t, list(append(of("a"), of("n/a")...)...))
	if len(c.Warnings) != 1 || c.Warnings[0] != "ClusterQueue n/a and 4 more: is in the input more than once: the last one counts" || len(c.State.Queues) != 1 || len(c.State.Cohorts) != 1 || len(c.State.Flavors) != 1 || len(c.State.Rules) != 1 || len(c.Limits) != 1 {
		t.Errorf("%q, %+v", c.Warnings, c.State)
	}
	if _, err := preemption.NewSnapshot(c.State); err != nil {
		t.Error(err)
	}
}
