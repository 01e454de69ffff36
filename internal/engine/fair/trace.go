package fair

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/quota"
)

// What the hooks of the recorder write down.

// traceTurn notes which queue is next, and its share.
func (f *Sharing) traceTurn(t *trace.Recorder, q *fairQueue) {
	node := q.of.Donor.Queue
	t.Add(trace.Step{Kind: trace.Turn, Node: node, Shares: trace.Shares{Ours: f.s.Share(node).Weighted()}})
}

// compared is what a strategy says of a victim; without after no strategy permits it.
func compared(v *right.Victim, by right.Strategy, ours, before quota.Share, after *quota.Share, permitted bool) trace.Step {
	step := right.StepOf(trace.Compared, v)
	step.Strategy, step.Fits = trace.Strategy(by), permitted // the constants are the same
	step.Ours, step.Before, step.After = ours.Weighted(), before.Weighted(), -1
	if after != nil {
		step.After = after.Weighted()
	}
	return step
}
