package cycle

import (
	"time"

	"github.com/cedesched/cede/internal/enum"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Outcome is what becomes of a head in a cycle. The zero value is invalid.
type Outcome uint8

const (
	// Admit: it is admitted now.
	Admit Outcome = 1 + iota
	// Preempt: the victims of its decision yield; it is admitted in a later cycle, once
	// they are gone.
	Preempt
	// Gated: it would preempt, but a gate of it is closed. It raises its signal; nothing
	// is reserved for it.
	Gated
	// Wait: time, the victims of others, or the next cycle make room: see
	// Verdict.Reason.
	Wait
	// Inadmissible: it does not fit, and nothing but a change will help it.
	Inadmissible
)

var borrowingNames = enum.Names[Borrowing]{Type: "Borrowing", List: []string{"AsBuilt", "KEP83"}}

// String returns the name of the constant.
func (b Borrowing) String() string { return borrowingNames.String(b) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (b Borrowing) MarshalText() ([]byte, error) { return borrowingNames.Marshal(b) }

// UnmarshalText reads a name. It fails on any other text.
func (b *Borrowing) UnmarshalText(text []byte) error { return borrowingNames.Unmarshal(text, b) }

var outcomeNames = enum.Names[Outcome]{Type: "Outcome", First: 1, List: []string{"Admit", "Preempt", "Gated", "Wait", "Inadmissible"}}

// String returns the name of the constant.
func (o Outcome) String() string { return outcomeNames.String(o) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (o Outcome) MarshalText() ([]byte, error) { return outcomeNames.Marshal(o) }

// UnmarshalText reads a name. It fails on any other text.
func (o *Outcome) UnmarshalText(text []byte) error { return outcomeNames.Unmarshal(text, o) }

// Verdict is what becomes of one head. The zero value is invalid.
type Verdict struct {
	// Head is the head, as it was given.
	Head    queue.Head
	Outcome Outcome
	// Reason is, for all but Admit, why it goes back to its queue:
	//   - PendingPreemption: its room is on its way. For Preempt, and for Wait where
	//     workloads that were told to stop make room, be it for others.
	//   - FailedAfterNomination, for Wait: heads before it took the room. It is tried
	//     again in the next cycle.
	//   - NoCandidates: nobody may yield. For Wait until Decision.RetryAt, and for
	//     Inadmissible.
	//   - NoFit, for Inadmissible: more than its queue could ever have.
	//   - Gated.
	Reason queue.Reason
	// Decision is the one behind it: for Preempt with the victims, none of which is
	// another head's; for Gated with those it would take; for NoCandidates and NoFit with
	// the shortage and the blockers; for FailedAfterNomination what it would have been
	// had the head been the only one.
	Decision preemption.Decision
}

// Requeue returns how the head goes back to its queue; ok is false for Admit: it does not.
func (v Verdict) Requeue() (r queue.Requeue, ok bool) {
	r = queue.Requeue{Reason: v.Reason}
	if v.Outcome == Wait && v.Reason == queue.NoCandidates {
		r.RetryAt = v.Decision.RetryAt
	}
	return r, v.Outcome != Admit
}

// Result is what a cycle comes to. The zero value is a cycle without heads.
type Result struct {
	// Verdicts is one for each head, in the order in which they were served.
	Verdicts []Verdict
}

// Edits returns what the cycle does to the snapshot: who is admitted, and who is told to
// stop. They are for one [preemption.Snapshot.With].
func (r Result) Edits() []preemption.Edit {
	var edits []preemption.Edit
	for _, v := range r.Verdicts {
		if v.Outcome == Admit || v.Outcome == Preempt {
			edits = append(edits, v.Decision.Edits()...)
		}
	}
	return edits
}

// Requeued returns a victim as it waits again, once it is gone: without reservation, its
// gates closed, with the timestamp of [preemption.Victim.Requeued].
func Requeued(v preemption.Victim, w workload.Workload, evictedAt time.Time) workload.Workload {
	w = w.Clone()
	w.Queued = v.Requeued(w.Queued, evictedAt)
	w.ReservedAt, w.Evicted = time.Time{}, false
	w.Gates = w.Gates.Evicted(evictedAt)
	return w
}
