package lint

import (
	"testing"

	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// Limits that count nothing are found, by what they name. Queue "a" has the label team=a and refers to the
// rules "c" with the rule "r"; nobody refers to the rules "d" with the rule "s".
func TestLimits(t *testing.T) {
	team := func(name string) *workload.LabelSelector {
		return &workload.LabelSelector{MatchLabels: map[string]string{"team": name}}
	}
	for _, c := range []struct {
		limit limits.Limit
		want  []string
	}{
		{limits.Limit{PreemptedQueues: team("a")}, nil},
		{limits.Limit{PreemptedQueues: team("b")}, []string{"its preemptedClusterQueueSelector selects no queue, so that it counts nothing"}},
		{limits.Limit{PreemptingQueues: team("b"), PreemptedQueues: team("a")}, []string{"its preemptingClusterQueueSelector selects no queue"}},
		{limits.Limit{Rules: []string{"r", "s"}}, nil},
		{limits.Limit{Rules: []string{"s"}}, []string{"it counts nothing: no queue refers to the rules that it names"}},
		{limits.Limit{Rules: []string{"r", "gone"}}, []string{`it names the rule "gone", which is not there`}},
		{limits.Limit{Configs: []string{"c"}, Rules: []string{"r"}}, nil},
		{limits.Limit{Configs: []string{"c"}, Rules: []string{"s"}}, []string{`it names the rule "s", which is not there`}},
		{limits.Limit{Configs: []string{"c", "d"}}, nil},
		{limits.Limit{Configs: []string{"d"}}, []string{"it counts nothing: no queue refers to the rules that it names"}},
		{limits.Limit{Configs: []string{"c", "gone"}}, []string{`it names the rules "gone", which are not there`}},
		{limits.Limit{}, []string{"it is zero and counts everything, so that it forbids each preemption"}},
		{limits.Limit{Limit: 1}, nil},
	} {
		in := clusterOf(t, func(in *Cluster) {
			in.State.Queues[0].Labels, in.State.Queues[0].Rules = map[string]string{"team": "a"}, "c"
			for i, name := range []string{"r", "s"} {
				rule := rules.Rule{Name: name, ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}}
				in.State.Rules = append(in.State.Rules, rules.Config{Name: []string{"c", "d"}[i], Rules: []rules.Rule{rule}})
			}
			limited(in, c.limit)
		})
		for i := range c.want {
			c.want[i] = `limit "l": ` + c.want[i]
		}
		wantFindings(t, in, "limits", c.want)
	}
}
