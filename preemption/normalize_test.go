package preemption_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
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
