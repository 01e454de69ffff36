package assign

import (
	"testing"

	"github.com/cedesched/cede/queue"
)

// "noFit last; then noPreemptionCandidates below everything else; then by preference."
// The order is a strict weak one, as a choice of the best needs.
func TestBetter(t *testing.T) {
	for preference, order := range map[queue.FlavorPreference][]Verdict{
		queue.BorrowingOverPreemption: {
			{Fit, 0}, {Fit, 1}, {Fit, 2}, {Reclaim, 0}, {Reclaim, 1}, {Reclaim, 2}, {Preempt, 0}, {Preempt, 1}, {Preempt, 2},
			{NoCandidates, 0}, {NoCandidates, 1}, {NoCandidates, 2}, {NoFit, 0},
		},
		queue.PreemptionOverBorrowing: {
			{Fit, 0}, {Reclaim, 0}, {Preempt, 0}, {Fit, 1}, {Reclaim, 1}, {Preempt, 1}, {Fit, 2}, {Reclaim, 2}, {Preempt, 2},
			{NoCandidates, 0}, {NoCandidates, 1}, {NoCandidates, 2}, {NoFit, 0},
		},
	} {
		for i, x := range order {
			for j, y := range order {
				if got := x.better(y, preference); got != (i < j) {
					t.Errorf("%v: %v is better than %v: %v", preference, x, y, got)
				}
			}
		}
	}
}
