package answers

import (
	"testing"

	"github.com/cedesched/cede/preemption"
)

// What is in doubt is unknown. A doubt that can only make a no of a yes leaves a no, and no other answer.
func TestDoubtsAreUnknown(t *testing.T) {
	for _, c := range []struct {
		w       Waiting
		outcome preemption.Outcome
		want    string
	}{
		{Waiting{}, preemption.Fits, "Fits"},
		{Waiting{Doubts: []string{"d"}}, preemption.Fits, Unknown},
		{Waiting{Doubts: []string{"d"}}, preemption.Impossible, Unknown},
		{Waiting{Doubts: []string{"d"}, NoStands: true}, preemption.Impossible, "Impossible"},
		{Waiting{Doubts: []string{"d"}, NoStands: true}, preemption.Preempt, Unknown},
		{Waiting{Doubts: []string{"d"}, NoStands: true}, preemption.Wait, Unknown},
		{Waiting{Doubts: []string{"d"}, NoStands: true, Held: "h"}, preemption.Impossible, Held},
	} {
		if got := c.w.Verdict(&preemption.Decision{Outcome: c.outcome}); got.Outcome != c.want {
			t.Errorf("%+v, %v: %v", c.w, c.outcome, got)
		}
	}
	if got := (&Waiting{Doubts: []string{"d"}, NoStands: true}).Verdict(nil); got.Outcome != Unknown {
		t.Errorf("not decided: %v", got)
	}
}
