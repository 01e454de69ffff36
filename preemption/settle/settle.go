package settle

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
)

// Decide answers a request by the configuration of a preemptor; nil decides by the zero
// [preemption.Config]. It changes neither the snapshot nor the request. It fails with [preemption.Faults] of everything
// wrong: a time that is not set or outside the years 1678 to 2262, an unknown or doubly listed node, a negative delay
// or number of victims, a usage of a local queue that [preemption.Preemptor.Decide] refuses.
func Decide(p *preemption.Preemptor, s *preemption.Snapshot, r Request) (Answer, error) {
	if err := r.validate(s); err != nil {
		return Answer{}, err
	}
	present, err := s.With(s.Removals()...)
	if err != nil {
		return Answer{}, err
	}
	first, err := settled(p, s, present, &r, r.Now)
	if err != nil {
		return Answer{}, err
	}
	answer := first.answer()
	if len(answer.Remaining) > 0 && !first.cut && !p.Config().SkipRetryAt {
		answer.RetryAt, err = first.retryAt()
	}
	return answer, err
}

// run is one settling of all nodes, at one instant.
type run struct {
	preemptor *preemption.Preemptor
	request   *Request
	now       time.Time
	given     *preemption.Snapshot
	before    *preemption.Snapshot // without what is leaving
	after     *preemption.Snapshot // without the victims so far, too, but for those that pending removes
	pending   []preemption.Edit
	history   *limits.History // with the victims so far, if there are limits
	limited   bool
	cost      preemption.Cost
	excess    []preemption.Excess
	apart     bool // none of the nodes that are over is above another
	steps     []Step
	victims   []chosen // in the order of choice
	cut       bool     // by MaxVictims
}

// settled settles all nodes at an instant, in a snapshot without what is leaving.
func settled(p *preemption.Preemptor, given, s *preemption.Snapshot, r *Request, now time.Time) (*run, error) {
	f := &run{preemptor: p, request: r, now: now, given: given, before: s, after: s, excess: inScope(s.Excess(), r.Nodes)}
	f.apart = !f.related(nodesOf(f.excess))
	config := p.Config()
	f.history, f.limited, f.cost = r.History, len(config.Limits) > 0, config.Cost
	for _, n := range nodesOf(f.excess) {
		if err := f.settle(n); err != nil {
			return nil, err
		}
	}
	f.putBack()
	if f.limit(); f.cut {
		return f, nil
	}
	if err := f.conclude(); err != nil {
		return nil, err
	}
	f.limit() // what still may leave was taken
	return f, nil
}

// nodesOf returns the nodes of a list, in its order.
func nodesOf(list []preemption.Excess) (nodes []Node) {
	for i, e := range list {
		if n := (Node{e.Queue, e.Cohort}); i == 0 || n != nodes[len(nodes)-1] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// left returns the snapshot without the victims so far.
func (f *run) left() *preemption.Snapshot {
	if len(f.pending) > 0 {
		f.after, _ = f.after.With(f.pending...) // each victim runs, and has as many replicas
		f.pending = nil
	}
	return f.after
}

// seenBy returns the snapshot that a step is about: where nodes are apart the victims of others do not matter to it.
func (f *run) seenBy(step *Step) *preemption.Snapshot {
	if f.apart && step.took == 0 {
		return f.before
	}
	return f.left()
}

// inScope returns the entries of the named nodes; all, if none is named.
func inScope(list []preemption.Excess, nodes []Node) []preemption.Excess {
	return slices.DeleteFunc(list, func(e preemption.Excess) bool {
		return len(nodes) > 0 && !slices.Contains(nodes, Node{e.Queue, e.Cohort})
	})
}

// excessOf returns what a node uses beyond what it may use.
func excessOf(s *preemption.Snapshot, n Node) (list []quota.Amount) {
	for _, row := range statusOf(s, n) {
		if row.Over > 0 {
			list = append(list, quota.Amount{Flavor: row.Flavor, Resource: row.Resource, Amount: row.Over})
		}
	}
	return list
}

func statusOf(s *preemption.Snapshot, n Node, besides ...quota.FlavorResource) []preemption.QuotaStatus {
	rows, known := s.QueueStatus(n.Queue, besides...)
	if !known {
		rows, _ = s.CohortStatus(n.Cohort, besides...)
	}
	return rows
}

// settle takes the victims of one node.
func (f *run) settle(n Node) error {
	step := Step{Node: n, number: len(f.steps)}
	if step.Excess = excessOf(f.seenBy(&step), n); len(step.Excess) == 0 {
		return nil // what left for nodes before it suffices
	}
	if ends := f.request.delayEnds(f.before, n); ends.After(f.now) {
		step.Delayed = ends
	}
	_, err := f.takeFor(&step, step.Excess)
	f.steps = append(f.steps, step)
	return err
}

// takeFor takes victims for an excess of a step, unless it is delayed. The decision of the step is then about the excess.
func (f *run) takeFor(step *Step, excess []quota.Amount) (took bool, err error) {
	if step.Delayed.After(f.now) {
		return false, f.ask(step, excess, step.Delayed)
	}
	return f.takeMost(step, excess)
}

// ask asks about an excess, at an instant. An answer that takes victims at a later one is to wait until then.
func (f *run) ask(step *Step, excess []quota.Amount, at time.Time) (err error) {
	if step.question, err = ask(f.seenBy(step), step.Node, excess, f.request, f.history, at); err != nil {
		return err
	}
	step.Decision, err = f.preemptor.Decide(step.question.Snapshot, step.question.Request)
	if at.After(f.now) && step.Decision.Outcome == preemption.Preempt {
		step.Decision = preemption.Decision{Outcome: preemption.Wait, RetryAt: at}
	}
	return err
}
