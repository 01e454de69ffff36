package preemption_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cedesched/cede/preemption"
)

var sameValues = cmpopts.EquateEmpty()

func throughJSON(t failer, r preemption.Record) preemption.Record {
	t.Helper()
	data := must(json.Marshal(r))(t)
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

// The example in the comment on Record is read, and is what it is written as.
func TestRecordExample(t *testing.T) {
	source := must(os.ReadFile("state.go"))(t)
	_, example, _ := strings.Cut(string(source), "every field set:\n//\n")
	example, _, _ = strings.Cut(example, "\ntype Record")
	example = strings.NewReplacer("//", "", "[...]", gpuQuota, "{...}", pendingWorkload).Replace(example)
	record := must(preemption.ParseRecord([]byte(example)))(t)
	noDiff(t, "", record, throughJSON(t, record), sameValues)
	d := decide(t, snapshotOf(t, record.State), *record.Request)
	if got := text(d); got != "Preempt: a/train InClusterQueue" {
		t.Error(got)
	}
}

const (
	gpuQuota        = `[{"flavor": "h100", "resource": "gpu", "nominal": 0}]`
	pendingWorkload = `{"id": "a/serve", "queue": "team-a", "priority": 200,
		"podSets": [{"name": "main", "count": 2, "requests": [{"flavor": "h100", "resource": "gpu", "amount": 4}]}]}`
)
