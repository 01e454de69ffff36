package preemption_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
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
	wantText(t, text(d), "Preempt: a/train InClusterQueue")
}

const (
	gpuQuota        = `[{"flavor": "h100", "resource": "gpu", "nominal": 0}]`
	pendingWorkload = `{"id": "a/serve", "queue": "team-a", "priority": 200,
		"podSets": [{"name": "main", "count": 2, "requests": [{"flavor": "h100", "resource": "gpu", "amount": 4}]}]}`
)

// A valid state stays as it is. One with what Kueue does not look at becomes valid, decides as without it,
// and is not changed itself.
func normalizeLeavesWhatIsValid(t *rapid.T) {
	st := preemptiontest.Records().Draw(t, "record").State
	if got, changes := st.Normalize(); len(changes) > 0 || !cmp.Equal(st, got) {
		t.Fatalf("a valid state is changed: %v", changes)
	}
	odd := cloneState(st)
	wrong := 0
	for i := range odd.Queues {
		q := &odd.Queues[i]
		if q.Cohort == "" && len(q.Quotas) > 0 && rapid.Bool().Draw(t, "limits") {
			q.Quotas[0].BorrowingLimit, q.Quotas[0].LendingLimit = quota.AtMost(3), quota.AtMost(0)
			wrong += 2
		}
		if q.Preemption.ReclaimWithinCohort == queue.Never && q.Preemption.BorrowWithinCohort.Policy == queue.Never && rapid.Bool().Draw(t, "borrow") {
			q.Preemption.BorrowWithinCohort.Policy = queue.LowerPriority
			wrong++
		}
	}
	before := cloneState(odd)
	got, changes := odd.Normalize()
	if len(changes) != wrong || !cmp.Equal(before, odd) {
		t.Fatalf("%d changes, want %d: %v", len(changes), wrong, changes)
	}
	noDiff(t, "-before +normalized", snapshotOf(t, st).State(), snapshotOf(t, got).State())
	if _, err := preemption.NewSnapshot(odd); (err != nil) != (wrong > 0) {
		t.Fatalf("%d are wrong: %v", wrong, err)
	}
}

func TestNormalizeLeavesWhatIsValid(t *testing.T) { rapid.Check(t, normalizeLeavesWhatIsValid) }

// "Requests that have a flavor keep it. Requests of nothing, of which the queue has no quota,
// are left out": of nothing is also what no replica asks for.
func TestPinLeavesOutNothing(t *testing.T) {
	asks := func(flavor string, amount int64) []quota.Amount {
		return []quota.Amount{{Flavor: flavor, Resource: "gpu", Amount: amount}, {Resource: "ib", Amount: amount}}
	}
	w := workload.Workload{PodSets: []workload.PodSet{
		{Name: "some", Count: 1, Requests: asks("", 1)},
		{Name: "own", Count: 1, Requests: asks("mine", 1)},
		{Name: "zero", Count: 1, Requests: asks("", 0)},
		{Name: "nobody", Count: 0, Requests: asks("", 1)},
	}}
	var a preemption.Assignment
	for _, p := range w.PodSets {
		a = append(a, preemption.FlavorChoice{PodSet: p.Name, Flavor: "spot", Resources: []preemption.AssignedResource{{Resource: "gpu"}}})
	}
	gpu := func(flavor string, amount int64) quota.Amount {
		return quota.Amount{Flavor: flavor, Resource: "gpu", Amount: amount}
	}
	ib := quota.Amount{Resource: "ib", Amount: 1} // without flavor: it is asked for
	want := [][]quota.Amount{{gpu("spot", 1), ib}, {gpu("mine", 1), ib}, {gpu("spot", 0)}, {gpu("spot", 1)}}
	for i, p := range a.Pin(w).PodSets {
		if diff := cmp.Diff(want[i], p.Requests); diff != "" {
			t.Errorf("%s: %s", p.Name, diff)
		}
	}
}
