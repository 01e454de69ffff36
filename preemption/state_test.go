package preemption_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

var sameValues = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.EquateComparable(quota.Limit{}, queue.PriorityThreshold{}),
}

func throughJSON(t failer, r preemption.Record) preemption.Record {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("%v", err)
	}
	again, err := preemption.ParseRecord(data)
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return again
}

func TestParseStateRefuses(t *testing.T) {
	for _, text := range []string{
		"", "{", "[]", "nonsense", `{"queues":[]} trailing`, `{"quees":[]}`,
		`{"queues":[{"name":"q","quotas":[{"flavor":"f","resource":"cpu","borrowingLimit":3}]}]}`,
		`{"queues":[{"name":"q","quotas":[{"flavor":"f","resource":"cpu","nominal":9223372036854775808}]}]}`,
		`{"queues":[{"name":"q","preemption":{"withinClusterQueue":"Sometimes"}}]}`,
		`{"admitted":[{"id":"a","queued":"yesterday"}]}`,
	} {
		if _, err := preemption.ParseState([]byte(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
