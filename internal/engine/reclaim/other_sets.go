package reclaim

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Of the victims of a side the last one may bring it below its share. So who is taken first decides who may
// follow, and the turns alone may miss a set: a workload as large as what is short, behind a small one. Where the turns
// find none, every candidate is taken as its turn comes, whatever its side holds. Each time that the request fits,
// those before the last one are put back that are not needed with it; if the rest may yield together, it is the answer.

// mostSetLooks limits how often the other sets are asked whether the request fits. Sessions of some hundred
// workloads need fewer; an answer that takes more is not found.
const mostSetLooks = 5_000

// otherSets looks for victims of which one is the last candidate that made the request fit.
func (t *Taker) otherSets() bool {
	s := t.s
	s.PutAllBack()
	s.Request.Trace.Silence()
	found := t.findOther()
	s.Request.Trace.Resume()
	if !found {
		return false
	}
	if trc := s.Request.Trace; trc != nil {
		trc.Add(trace.Step{Kind: trace.AttemptBegins, Attempt: trace.Attempt{Borrowing: true}})
		for i := range s.Taken {
			step := right.StepOf(trace.Taken, &s.Taken[i])
			step.Fits = i == len(s.Taken)-1
			trc.Add(step)
		}
	}
	return true
}

func (t *Taker) findOther() bool {
	s := t.s
	first := s.Trials
	defer func() { s.Steps += s.Trials - first }() // so that the trials of RetryAt together are limited
	t.takeLeaving()                                // not enough, or the turns had found it
	for t.start(); s.Trials-first < mostSetLooks; {
		p := t.turn()
		if p == nil {
			return false
		}
		v := p.line.head
		if v.Count = 1; s.Limited(&v) {
			t.pass(p, p.line.head.Count)
			continue
		}
		s.Take(v)
		t.move(p, 1)
		t.pass(p, 1)
		if s.Fits(t.mode) && t.keepsLast() {
			return true
		}
	}
	return false
}

// keepsLast puts back what is not needed beside the victim taken last. If the rest may not yield together, all are taken
// as before.
func (t *Taker) keepsLast() bool {
	s := t.s
	all := slices.Clone(s.Taken)
	s.PutBack(true, nil)
	if t.allowed(s.Remaining(s.Taken, nil)) {
		s.PutBack(true, t.allows)
		return true
	}
	s.PutAllBack()
	for _, v := range all {
		s.Take(v)
	}
	return false
}
