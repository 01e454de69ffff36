package settle

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/least"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
)

// Decide answers a request by the configuration of a preemptor; nil decides by the zero
// [preemption.Config]. It changes neither the snapshot nor the request. It fails with [preemption.Faults] of everything
// wrong: a time that is not set or outside the years 1678 to 2262, an unknown or doubly listed node, a negative delay
// or number of victims, a usage of a local queue that [preemption.Preemptor.Decide] refuses, a preemptor with
// [preemption.KAI]: shares say who is entitled, not who leaves what is over a limit. Fair shares of the snapshot are not read.
func Decide(p *preemption.Preemptor, s *preemption.Snapshot, r Request) (Answer, error) {
	if err := r.validate(p, s); err != nil {
		return Answer{}, err
	}
	present, err := s.With(append(s.Removals(), preemption.SetFairShares(fairshare.Tree{}))...)
	if err != nil {
		return Answer{}, err
	}
	f := &run{preemptor: p, config: p.Config(), request: &r, before: present, left: present}
	if err := f.settle(); err != nil {
		return Answer{}, err
	}
	return f.answer(), nil
}

// run is one settling of all nodes.
type run struct {
	preemptor *preemption.Preemptor
	config    preemption.Config
	request   *Request
	before    *preemption.Snapshot // without what is leaving
	left      *preemption.Snapshot // without the victims so far, too
	history   *limits.History      // with the victims so far, if there are limits
	steps     []*Step
	victims   []chosen // in the order of choice
	searches  int      // that took victims
	cut       bool     // by MaxVictims
}

// settle asks about each column that is over, until nothing more leaves. The questions of the last round are about what remains.
func (f *run) settle() error {
	for took := true; took && !f.cut; {
		took = false
		f.steps = slices.DeleteFunc(f.steps, func(s *Step) bool { return !s.took })
		if err := f.recount(); err != nil {
			return err
		}
		for _, e := range f.inScope(f.left.Excess()) {
			if e.Amount = over(f.left, e); e.Amount == 0 {
				continue // what left for those before suffices
			}
			step := &Step{Node: Node{e.Queue, e.Cohort}, Excess: quota.Amount{Flavor: e.Flavor, Resource: e.Resource, Amount: e.Amount}}
			if err := f.ask(step); err != nil {
				return err
			}
			f.steps, took = append(f.steps, step), took || step.took
		}
		f.putBack()
		f.limit()
	}
	return nil
}

// ask asks about the excess of a step and takes the victims: of all of it, or else of as much as may leave now. Before the end of
// a delay nothing leaves.
func (f *run) ask(step *Step) (err error) {
	at := f.request.Now
	if ends := f.request.delayEnds(f.before, step.Node); ends.After(at) {
		step.Delayed, at = ends, ends
	}
	if step.question, err = ask(f.left, step, f.request, f.history, at); err != nil {
		return err
	}
	if step.Decision, err = f.preemptor.Decide(step.question.Snapshot, step.question.Request); err != nil {
		return err
	}
	switch {
	case !step.Delayed.IsZero():
		if step.Decision.Outcome == preemption.Preempt {
			step.Decision = preemption.Decision{Outcome: preemption.Wait, RetryAt: at}
		}
	case step.Decision.Outcome == preemption.Preempt || f.askLess(step):
		f.take(step)
	}
	return nil
}

// askLess asks for less and less of an excess, until that much may leave. If nothing may, the step stays as it is.
func (f *run) askLess(step *Step) bool {
	q, d, rest := step.question, step.Decision, step.Excess.Amount
	for missing := missingOf(&d); missing > 0; missing = missingOf(&d) {
		if rest = quota.Sub(rest, missing); rest <= 0 {
			return false
		}
		if q, d = f.about(q, rest); d.Outcome == preemption.Preempt {
			step.question, step.Decision = q, d
			return true
		}
	}
	// It is not the quota that is short: limits keep victims, for instance.
	found, ok := least.Step(rest-1, func(step int64) (found Step, ok bool) {
		found.question, found.Decision = f.about(q, rest-step)
		return found, found.Decision.Outcome == preemption.Preempt
	})
	if ok {
		step.question, step.Decision = found.question, found.Decision
	}
	return ok
}

// about asks for another amount. What can fail was asked before.
func (f *run) about(q Question, amount int64) (Question, preemption.Decision) {
	q = q.asking(amount)
	d, _ := f.preemptor.Decide(q.Snapshot, q.Request)
	return q, d
}

// missingOf returns what a decision about one column is short of.
func missingOf(d *preemption.Decision) int64 {
	if len(d.Shortage) == 0 {
		return 0
	}
	return d.Shortage[0].Missing
}

// recount adds the victims so far to the history, if there are limits.
func (f *run) recount() (err error) {
	if f.history = f.request.History; len(f.config.Limits) == 0 {
		return nil
	}
	for i := range f.victims {
		v := &f.victims[i]
		if f.history, err = f.history.With(v.step.events([]preemption.Victim{v.Victim}, f.before, f.request.Now)...); err != nil {
			return err
		}
	}
	return nil
}

// inScope returns the entries of the nodes that are asked about.
func (f *run) inScope(list []preemption.Excess) []preemption.Excess {
	return slices.DeleteFunc(list, func(e preemption.Excess) bool {
		return len(f.request.Nodes) > 0 && !slices.Contains(f.request.Nodes, Node{e.Queue, e.Cohort})
	})
}

// over returns what a node uses of a column beyond what it may use.
func over(s *preemption.Snapshot, e preemption.Excess) int64 {
	return max(0, statusOf(s, Node{e.Queue, e.Cohort}, e.FlavorResource).Over)
}

// statusOf returns the row of a column of a node.
func statusOf(s *preemption.Snapshot, n Node, column quota.FlavorResource) preemption.QuotaStatus {
	for _, row := range rowsOf(s, n, column) {
		if row.FlavorResource == column {
			return row
		}
	}
	return preemption.QuotaStatus{}
}

// rowsOf returns the rows of a node, and that of a column besides.
func rowsOf(s *preemption.Snapshot, n Node, besides quota.FlavorResource) []preemption.QuotaStatus {
	rows, known := s.QueueStatus(n.Queue, besides)
	if !known {
		rows, _ = s.CohortStatus(n.Cohort, besides)
	}
	return rows
}

// retryAt returns the first instant at which asking again gets more; waits is false if there is none.
func (f *run) retryAt() (first time.Time, waits bool) {
	if f.cut {
		return f.request.Now, true
	}
	for _, step := range f.steps {
		if step.took {
			continue
		}
		at := time.Time{}
		switch q, d := f.about(step.question, 1); d.Outcome {
		case preemption.Wait:
			at, waits = d.RetryAt, true
		case preemption.Preempt: // it is delayed
			at, waits = q.Request.Now, true
		}
		if first.IsZero() || !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	return first, waits
}
