package lint

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/rules"
	"github.com/cedesched/cede/workload"
)

// Rules that never apply are found, each by its place; those that apply are not.
func TestPreemptionRules(t *testing.T) {
	always := rules.ActivationPolicy{Trigger: rules.Always}
	team := func(name string) *workload.LabelSelector {
		return &workload.LabelSelector{MatchLabels: map[string]string{"team": name}}
	}
	c := clusterOf(t, func(c *Cluster) {
		c.State.Queues[0].Rules, c.State.Queues[1].Rules = "good", "gone"
		c.State.Queues[1].Labels = map[string]string{"team": "vision"}
		c.State.Admitted[0].Labels = map[string]string{"team": "vision"}
		c.State.Rules = []rules.Config{
			{Name: "good", Rules: []rules.Rule{{Name: "r", ActivationPolicy: always, CandidateSelectors: []rules.CandidateSelector{
				{Scope: rules.AnyClusterQueue, ClusterQueueSelector: team("vision"), LabelSelector: team("vision")},
				{Scope: rules.AnyClusterQueue, ClusterQueueSelector: team("speech"), LabelSelector: team("speech")},
			}}, {Name: "empty", ActivationPolicy: always}}},
			{Name: "unused", Rules: []rules.Rule{{Name: "bad", ActivationPolicy: always, CandidateSelectors: []rules.CandidateSelector{{Scope: "No"}}}}},
		}
	})
	found, err := Run(c, "rules")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.Place+": "+f.Problem)
	}
	want := []string{
		`queue "b": it refers to the rules "gone", which are not there`,
		`rules "good": rule "empty" has no candidate selector, so that it permits nobody`,
		`rules "good": the clusterQueueSelector of rule "r", selector 1, selects no queue`,
		`rules "good": the labelSelector of rule "r", selector 1, selects nobody who runs or waits`,
		`rules "unused": configs[0].rules[0].candidateSelectors[0].scope: "No" is none of`,
		`rules "unused": no queue refers to them`,
	}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
}
