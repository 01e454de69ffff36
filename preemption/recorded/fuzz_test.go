package recorded_test

import (
	"testing"

	"github.com/cedesched/cede/preemption/recorded"
)

// FuzzParse: no line makes the library panic, whatever it asks.
func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`{"id":"q","quota":[{"state":{"queues":[{"name":"q","quotas":[{"flavor":"f","resource":"r","nominal":1}],"preemption":{"withinClusterQueue":"LowerPriority"}}],` +
			`"admitted":[{"id":"low","queue":"q","podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"r","amount":1}]}]}]},` +
			`"request":{"workload":{"id":"in","queue":"q","priority":1,"podSets":[{"name":"main","count":1,"requests":[{"flavor":"f","resource":"r","amount":1}]}]},"now":"2026-01-01T00:00:00Z"},` +
			`"places":[["low"]],"want":{"victims":[{"workload":"low"}],"possible":true,"retryAt":"0001-01-01T00:00:00Z","taken":[{"victims":[{"workload":"low"}]}],"yields":[],` +
			`"forecasts":[{"flavor":"f","resource":"r","amount":1,"possibility":"Preempt"}],"queues":[{"name":"q","flavor":"f","resource":"r"}],"shares":[{"queue":"q"}]}}]}`,
		`{"id":"n","nodes":[{"conflicts":[["a","b"]],"protected":["a"],"state":{"nodes":[{"name":"n","capacity":{"slots":1}}],"pods":[{"id":"a","node":"n","requests":{"slots":1}}]},` +
			`"request":{"priority":1,"pods":[{"id":"b","requests":{"slots":1}}]},"want":{"possible":false,"victims":[],"candidates":[],"first":"a"}}]}`,
		`{"id":"g","gates":[{"timeoutSeconds":300,"now":"2026-01-01T00:00:00Z","replicas":[{"name":"a","gates":{"names":["kueue.x-k8s.io/multikueue"],"blocked":{"active":true}}}],"want":{"open":"a"}}]}`,
		`{"id":"s","fairShares":[{"tree":{"resources":[{"name":"gpu","total":8}],"queues":[{"name":"a","claims":[{"resource":"gpu","request":9,"overQuotaWeight":1}]}]},` +
			`"answers":[[{"queue":"a","resource":"gpu","fairShare":7}]],"floatSensitive":true}]}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(_ *testing.T, line string) {
		if c, err := recorded.Parse([]byte(line)); err == nil {
			c.Check()
		}
	})
}
