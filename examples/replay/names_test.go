package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Rule sets have short names in tables, each another one.
func TestShortNames(t *testing.T) {
	for _, c := range []struct{ policies, want []string }{
		{[]string{"greedy", "best+checkpoint"}, []string{"greedy", "best+checkpoint"}},
		{[]string{"rules=policies/a.yaml+rulesalone", "rules=policies/b.yaml+rulesalone"}, []string{"rules=a+rulesalone", "rules=b+rulesalone"}},
		{[]string{"rules=x/a.yaml", "rules=y/a.yaml"}, []string{"rules=x/a.yaml", "rules=y/a.yaml"}},
		{[]string{"rules=a.yaml", "rules=a.json"}, []string{"rules=a.yaml", "rules=a.json"}},
		{[]string{"rules=p/preempt-small.yaml+rulesalone", "fair", "rules=p/preempt-large.yaml+rulesalone"}, []string{"rules=…small+rulesalone", "fair", "rules=…large+rulesalone"}},
		{[]string{"rules=p/only-one-with-a-long-name.yaml", "rules=p/only-one-with-a-long-name.yaml+rulesalone"}, []string{"rules=only-one-with-a-long-name", "rules=only-one-with-a-long-name+rulesalone"}},
	} {
		short := shortNames(c.policies)
		var got []string
		for _, p := range c.policies {
			got = append(got, short[p])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.policies, got, c.want)
		}
	}
}

// Two rule sets of one directory are apart in all tables of a narrow terminal.
func TestRuleSetsAreApart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "policies")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	policies := []string{"classical"}
	for _, name := range []string{"a", "b"} {
		file := filepath.Join(dir, name+".yaml")
		text := "apiVersion: kueue.x-k8s.io/v1alpha1\nkind: PreemptionConfig\nmetadata: {name: " + name + "}\n" +
			"spec: {rules: [{name: r, activationPolicy: {trigger: Always}, candidateSelectors: [{scope: WithinClusterQueue, priority: {mode: Base, comparison: LessThan}}]}]}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		policies = append(policies, "rules="+file+"+rulesalone")
	}
	status, stdout, stderr := call(t, "-world", "philly-vc+days=1+capacity=40", "-policy", strings.Join(policies, ","))
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %q", status, stderr)
	}
	for _, name := range []string{"rules=a+rulesalone", "rules=b+rulesalone"} {
		if n := strings.Count(stdout, name+"  "); n != 9 { // in the first table, and of waits and completion for all and each of three priorities
			t.Errorf("%s is there %d times:\n%s", name, n, stdout)
		}
	}
}
