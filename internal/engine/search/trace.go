package search

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/engine/usage"
)

// What a recorder writes down of the loop. It is called only when a decision is traced.

var traceBound = [...]trace.Bound{usage.InReach: trace.InReach, usage.InNeed: trace.InNeed}

// missing is what the request lacks without the workloads of a kind.
func (s *Search) missing(gone usage.Gone, staysNominal func(slot int) bool) (list []trace.Missing) {
	for _, of := range s.AppendShort(nil, gone, staysNominal) {
		list = append(list, trace.Missing{Slot: of.Slot, Amount: of.Missing, Node: of.Bound})
	}
	return list
}

func (s *Search) missingIn(gone usage.Gone, borrowing bool) []trace.Missing {
	return s.missing(gone, func(slot int) bool { return s.StaysNominal(slot, borrowing) })
}

// TraceAsked notes whether the request fits without victims.
func (s *Search) TraceAsked(t *trace.Recorder, fits bool) {
	t.Add(trace.Step{Kind: trace.Asked, Fits: fits, Missing: s.missing(usage.Victims, func(int) bool { return false })})
}

// TraceOverPotential notes that the request is over what could ever be available.
func (s *Search) TraceOverPotential(t *trace.Recorder) {
	t.Add(trace.Step{Kind: trace.Hopeless, Bound: trace.Potential})
}

// traceBound notes that a sum refuses the request.
func (s *Search) traceBound(t *trace.Recorder, gone usage.Gone, borrowing bool) {
	bound := traceBound[gone]
	if s.inTree {
		bound = trace.InTree
	}
	t.Add(trace.Step{Kind: trace.Hopeless, Bound: bound, Missing: s.missingIn(gone, borrowing)})
}

// TraceTaken notes the victim taken last, and what is still short.
func (s *Search) TraceTaken(t *trace.Recorder, borrowing, fits bool) {
	step := right.StepOf(trace.Taken, &s.Taken[len(s.Taken)-1])
	step.Missing, step.Fits = s.missingIn(usage.Victims, borrowing), fits
	t.Add(step)
	if s.Request.Room != nil && len(step.Missing) == 0 {
		t.Add(trace.Step{Kind: trace.RoomAsked, Fits: fits})
	}
}
