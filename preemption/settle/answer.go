package settle

import (
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
//   - Wait: no victim may leave now, but time will permit some; see RetryAt.
//   - Impossible: no victim may leave, now or later, unless something other than time changes.
//
// Victims are sorted by ID, and numbered over all nodes in the order of choice. No victim is in vain: without any of
// them, or any replica of one, more would remain over. (A workload may go as a whole of which the surplus would have been
// enough, if only a part may leave or victims of others made it enough.) Lost is the sum.
//
// RetryAt is, if something remains, the first instant at which asking again gets more, if the victims leave and nothing
// else but time changes: the end of a delay, of a minimum runtime; the time of the request if only [Request.MaxVictims] kept
// victims. It is exact to the nanosecond, never too late, and may be early by [preemption.Config.MaxRetrySteps]. It is zero if time
// alone gets nothing, and if MaxRetrySteps is negative.
//
// Blockers and Shortage are those of what remains, step by step. With the search Best Proof is that of the only step, if one
// search took all victims. Other fields are not set.
//
// Decision.Edits starts the evictions. Settling again after them gives the same Remaining and no new victim.
type Answer struct {
	preemption.Decision
	// Excess is what is over before any victim leaves, without what was told to leave before.
	Excess []preemption.Excess `json:"excess,omitempty"`
	// Remaining is what stays over when the victims have left.
	Remaining []preemption.Excess `json:"remaining,omitempty"`
	// Steps has a step for each search that took victims, in their order, then one for each column of a node that stays
	// over; none of those if [Request.MaxVictims] kept victims.
	Steps []Step `json:"steps,omitempty"`
}

// Step is the answer about one column of a node, with the victims of the steps before it gone.
type Step struct {
	Node
	// Excess is what is over, and of which flavor and resource.
	Excess quota.Amount `json:"excess"`
	// Delayed is the end of a delay that has not passed; else zero.
	Delayed time.Time `json:"delayed,omitzero"`
	// Decision is the answer to Question: Preempt if its victims leave; else Wait or Impossible.
	Decision preemption.Decision `json:"decision"`
	// Victims are those of Decision, by ID, without those that could stay when others had left.
	Victims []preemption.Victim `json:"victims,omitempty"`

	question Question
	took     bool // victims
}

// Question returns the question that Decision answers: about all of the excess, or about as much of it as may leave. It is
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
	for i := range f.victims {
		f.victims[i].Order = i + 1
	}
	a := Answer{Excess: f.inScope(f.before.Excess()), Remaining: f.inScope(f.left.Excess())}
	a.Victims = f.merged(nil)
	for _, v := range a.Victims {
		a.Lost = quota.Add(a.Lost, v.Lost)
	}
	for _, step := range f.steps {
		if step.Victims = f.merged(step); step.took && len(step.Victims) == 0 {
			continue // all could stay
		}
		if !step.took {
			a.Blockers = append(a.Blockers, step.Decision.Blockers...)
			a.Shortage = append(a.Shortage, step.Decision.Shortage...)
		}
		a.Steps = append(a.Steps, *step)
	}
	waits := false
	if len(a.Remaining) > 0 {
		a.RetryAt, waits = f.retryAt()
	}
	if len(a.Steps) == 1 && !f.cut {
		a.Proof = a.Steps[0].Decision.Proof
	}
	switch {
	case len(a.Excess) == 0:
		a.Outcome = preemption.Fits
	case len(a.Victims) > 0:
		a.Outcome = preemption.Preempt
	case waits:
		a.Outcome = preemption.Wait
	default:
		a.Outcome = preemption.Impossible
	}
	return a
}
