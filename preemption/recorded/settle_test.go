package recorded_test

import (
	"slices"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/workload"
)

// With AtMost and the Exact search a queue gives no less of what is over than YuniKorn takes there, if that is no workload that never
// yields and no more than the excess.
func TestAtMostClaimsWhatYuniKornDoes(t *testing.T) {
	asked, more := 0, 0
	for _, c := range casesOf(t, "settle") {
		q := &c.Settle[0]
		s, err := preemption.NewSnapshot(q.State)
		if err != nil {
			t.Fatal(err)
		}
		p, err := preemption.New(preemption.Config{Search: preemption.Exact})
		if err != nil {
			t.Fatal(err)
		}
		a, err := settle.Decide(p, s, q.Request)
		if err != nil {
			t.Fatal(err)
		}
		if q.Request.Goal != settle.AtMost || len(a.Excess) != 1 || a.Excess[0].Queue == "" || q.Want.Victims == nil {
			continue
		}
		theirs, fair := int64(0), true
		for i := range q.State.Admitted {
			if w := &q.State.Admitted[i]; slices.Contains(q.Want.Victims, w.ID) {
				theirs, fair = theirs+uses(w, &a.Excess[0]), fair && !w.NeverYields && !w.Evicted
			}
		}
		if !fair || theirs > a.Excess[0].Amount {
			continue
		}
		ours := a.Excess[0].Amount
		if len(a.Remaining) > 0 {
			ours -= a.Remaining[0].Amount
		}
		if asked++; ours < theirs {
			t.Errorf("%s: %d, YuniKorn %d of %d", c.ID, ours, theirs, a.Excess[0].Amount)
		}
		if ours > theirs {
			more++
		}
	}
	if asked < 20 || more == 0 {
		t.Errorf("only %d asked, %d give more", asked, more)
	}
	t.Logf("%d asked, %d give more", asked, more)
}

// uses returns what a workload takes of what is over.
func uses(w *workload.Workload, e *preemption.Excess) (sum int64) {
	for _, a := range w.Usage() {
		if a.FlavorResource() == e.FlavorResource {
			sum += a.Amount
		}
	}
	return sum
}
