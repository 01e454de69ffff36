package rules_test

import (
	"encoding/json"
	"fmt"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// Heroes may take what smaller jobs hold in any queue, also within its nominal quota.
func ExampleEvaluator() {
	var hero rules.Config
	err := json.Unmarshal([]byte(`{"name": "hero", "rules": [{
		"name": "smaller-ones-yield",
		"preemptorSelector": {"matchLabels": {"hero": "true"}},
		"activationPolicy": {"trigger": "Always"},
		"candidateSelectors": [{
			"scope": "AnyClusterQueue",
			"labelSelector": {"matchExpressions": [{"key": "hero", "operator": "DoesNotExist"}]},
			"numericLabels": [{"key": "gpus", "fallbackValue": 1, "comparison": "LessThan"}]
		}]
	}]}`), &hero)
	if err != nil {
		fmt.Println(err)
		return
	}
	queues := []queue.Queue{{Name: "training", Rules: "hero"}, {Name: "batch"}}
	e, err := rules.New(nil, queues, []rules.Config{hero})
	if err != nil {
		fmt.Println(err)
		return
	}
	tier, err := e.Tier(rules.Always, &workload.Workload{ID: "big", Queue: "training", Labels: map[string]string{"hero": "true", "gpus": "64"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, running := range []workload.Workload{
		{ID: "small", Queue: "batch", Labels: map[string]string{"gpus": "8"}},
		{ID: "other hero", Queue: "batch", Labels: map[string]string{"gpus": "8", "hero": "true"}},
		{ID: "as big", Queue: "batch", Labels: map[string]string{"gpus": "64"}},
		{ID: "without label", Queue: "training"},
	} {
		if by := tier.Select(&running, rules.Moment{}); len(by) > 0 {
			fmt.Printf("%s: %s\n", running.ID, tier.Cause(by))
		}
	}
	// Output:
	// small: preemption config hero rule smaller-ones-yield/0
	// without label: preemption config hero rule smaller-ones-yield/0
}
