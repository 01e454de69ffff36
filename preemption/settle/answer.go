package settle

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
)

// Answer says who must yield. The zero value is invalid.
//
// Its Decision is about all nodes together:
//
//   - Fits: no node is over. Nothing has to leave.
//   - Preempt: Victims leave now. If they are not all that has to, Remaining says what stays over.
//   - Wait: no victim may leave now, but time will permit some; see MoreAt.
//   - Impossible: no victim may leave, now or later, unless something other than time changes.
//
// Victims are sorted by ID, and numbered over all nodes in the order of choice. No victim is in vain: without any of
// them, or any replica of one, more would remain over. (Where only a part may leave, a workload may go as a whole of which
// the surplus would have been enough.) Lost is the sum.
//
// RetryAt is set if something remains: the first instant, exact to the nanosecond, at which the goal can be met if the
// victims leave and nothing else but time changes. Where one node is above another, or the rest never may leave at once, it
// is the instant at which settling again at each MoreAt reaches the goal. It is zero if time alone does not,
// and if MaxVictims kept victims. It is never too late, and may be early by [preemption.Config.MaxRetrySteps].
//
// Blockers and Shortage are those of what remains, node by node. With the Exact search Proof is about all nodes, if each
// step has one; it is Optimal only if no node is above another. Other fields are not set.
//
// Decision.Edits starts the evictions. Settling again after them gives the same Remaining and no new victim.
type Answer struct {
	preemption.Decision
	// Excess is what is over before any victim leaves, without what was told to leave before.
	Excess []preemption.Excess `json:"excess,omitempty"`
	// Remaining is what stays over when the victims have left.
	Remaining []preemption.Excess `json:"remaining,omitempty"`
	// MoreAt is, if something remains, the first instant at which more victims may leave: Now if only
	// [Request.MaxVictims] kept them, the end of a delay, of a minimum runtime. Zero if there is none.
	MoreAt time.Time `json:"moreAt,omitzero"`
	// Steps has a step for each node that is over, in the order in which they are settled. A node that is within
	// what it may use once the victims of nodes before it have left has none.
	Steps []Step `json:"steps,omitempty"`
}

// Step is the answer for one node, with the victims of the steps before it gone.
type Step struct {
	Node
	// Excess is what is to leave for this node.
	Excess []quota.Amount `json:"excess"`
	// Delayed is the end of a delay that has not passed; else zero.
	Delayed time.Time `json:"delayed,omitzero"`
	// Decision is the answer to Question: Preempt if all of the excess may leave now; Fits if the victims of other nodes suffice;
	// else Wait or Impossible, about what remains when the victims have left.
	Decision preemption.Decision `json:"decision"`
	// Victims are those of the step, by ID, also if they are only a part of what has to leave. Of a victim of several
	// steps each has what it takes.
	Victims []preemption.Victim `json:"victims,omitempty"`

	question Question
	number   int // among the steps
	took     int // how many searches took victims
}

// Question returns the question that Decision answers: about all of the excess, or about what remains. It is
// the zero value in an answer that was decoded from JSON.
func (s *Step) Question() Question { return s.question }

// Events returns what the answer adds to the history of preemptions if it is carried out; see [preemption.Decision.Events]. s is the
// snapshot that was asked. The preemptors are the workloads of the questions. An answer that was decoded from JSON has no events.
func (a Answer) Events(s *preemption.Snapshot, at time.Time) (list []limits.Event) {
	for i := range a.Steps {
		list = append(list, a.Steps[i].events(a.Steps[i].Victims, s, at)...)
	}
	return list
}

func (s *Step) events(victims []preemption.Victim, in *preemption.Snapshot, at time.Time) []limits.Event {
	if s.question.Snapshot == nil {
		return nil
	}
	return preemption.Decision{Outcome: preemption.Preempt, Victims: victims}.Events(in, s.question.Request, at)
}

// answer puts a run together.
func (f *run) answer() Answer {
	a := Answer{Excess: f.excess, Steps: f.steps}
	if f.cut || len(f.waiting()) > 0 {
		a.Remaining = inScope(f.left().Excess(), f.request.Nodes)
	}
	for i := range f.victims {
		f.victims[i].Order = i + 1
	}
	a.Victims = f.merged(f.victims)
	f.setLost(a.Victims, nil)
	for _, v := range a.Victims {
		a.Lost = quota.Add(a.Lost, v.Lost)
	}
	for i := range a.Steps {
		step := &a.Steps[i]
		step.Victims = f.merged(slices.Collect(func(yield func(chosen) bool) {
			for _, v := range f.victims {
				if v.step == i && !yield(v) {
					return
				}
			}
		}))
		f.setLost(step.Victims, slices.Collect(func(yield func(chosen) bool) {
			for _, v := range f.victims {
				if v.step < i && !yield(v) {
					return
				}
			}
		}))
		a.Blockers = append(a.Blockers, step.Decision.Blockers...)
		a.Shortage = append(a.Shortage, step.Decision.Shortage...)
	}
	if f.cut {
		a.MoreAt = f.now
	} else {
		for _, step := range f.waiting() {
			a.MoreAt = earlier(a.MoreAt, f.moreAt(step))
		}
	}
	a.Proof = f.proof()
	switch {
	case len(a.Excess) == 0:
		a.Outcome = preemption.Fits
	case len(a.Victims) > 0:
		a.Outcome = preemption.Preempt
	case !a.MoreAt.IsZero():
		a.Outcome = preemption.Wait
	default:
		a.Outcome = preemption.Impossible
	}
	return a
}

// proof puts the proofs of the steps together: those of nodes of which none is above another add up. What is shown
// for nodes below others is a bound for all.
func (f *run) proof() *preemption.Proof {
	var all []*Step
	for i := range f.steps {
		if f.steps[i].Decision.Proof == nil || f.steps[i].took > 1 || f.cut {
			return nil
		}
		all = append(all, &f.steps[i])
	}
	if len(all) == 0 {
		return nil
	}
	out := &preemption.Proof{Optimal: !f.nested(all)}
	for i, step := range all {
		p := step.Decision.Proof
		out.Nodes += p.Nodes
		out.Optimal = out.Optimal && p.Optimal
		if !slices.ContainsFunc(all[:i], func(below *Step) bool { return f.nested([]*Step{below, step}) }) {
			out.LowerBound = quota.Add(out.LowerBound, p.LowerBound)
		}
		out.Value = quota.Add(out.Value, p.Value)
	}
	return out
}
