package cycle

import (
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// HeadOutcome is what becomes of a head in a cycle. The zero value is invalid.
type HeadOutcome uint8

const (
	// Admit: it is admitted now.
	Admit HeadOutcome = 1 + iota
	// Preempt: the victims of its decision yield; it is admitted in a later cycle, once
	// they are gone.
	Preempt
	// Gated: it would preempt, but a gate of it is closed. It raises its signal; nothing
	// is reserved for it.
	Gated
	// Wait: time, the victims of others, or the next cycle make room: see
	// HeadResult.Reason.
	Wait
	// Inadmissible: it does not fit, and nothing but a change will help it.
	Inadmissible
)

var borrowingNames = enum.Names[Borrowing]{Type: "Borrowing", List: []string{"AsBuilt", "KEP83", "KEP83Lasting"}}

// String returns the name of the constant.
func (b Borrowing) String() string { return borrowingNames.String(b) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (b Borrowing) MarshalText() ([]byte, error) { return borrowingNames.Marshal(b) }

// UnmarshalText reads a name. It fails on any other text.
func (b *Borrowing) UnmarshalText(text []byte) error { return borrowingNames.Unmarshal(text, b) }

var outcomeNames = enum.Names[HeadOutcome]{Type: "HeadOutcome", First: 1, List: []string{"Admit", "Preempt", "Gated", "Wait", "Inadmissible"}}

// String returns the name of the constant.
func (o HeadOutcome) String() string { return outcomeNames.String(o) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (o HeadOutcome) MarshalText() ([]byte, error) { return outcomeNames.Marshal(o) }

// UnmarshalText reads a name. It fails on any other text.
func (o *HeadOutcome) UnmarshalText(text []byte) error { return outcomeNames.Unmarshal(text, o) }

// HeadResult is what becomes of one head, as plain data. The zero value is invalid.
type HeadResult struct {
	// Head is the head, as it was given.
	Head    queue.Head  `json:"head"`
	Outcome HeadOutcome `json:"outcome"`
	// Reason is, for all but Admit, why it goes back to its queue:
	//   - PendingPreemption: its room is on its way. For Preempt, and for Wait where
	//     workloads that were told to stop make room, be it for others.
	//   - FailedAfterNomination, for Wait: heads before it took the room. It is tried
	//     again in the next cycle.
	//   - NoCandidates: nobody may yield. For Wait until Decision.RetryAt, and for
	//     Inadmissible.
	//   - NoFit, for Inadmissible: more than its queue could ever have.
	//   - Gated.
	Reason queue.RequeueReason `json:"reason,omitzero"`
	// Decision is the one behind it: for Preempt with the victims, none of which is
	// another head's; for Gated with those it would take; for NoCandidates and NoFit with
	// the shortage and the blockers; for FailedAfterNomination what it would have been
	// had the head been the only one.
	Decision preemption.Decision `json:"decision"`
	// Alone and WithinNominal are those of [queue.Requeue]; the latter is set under
	// KEP83Lasting only.
	Alone         bool `json:"alone,omitzero"`
	WithinNominal bool `json:"withinNominal,omitzero"`
}

// Requeue returns how the head goes back to its queue; ok is false for Admit: it does not.
func (v HeadResult) Requeue() (r queue.Requeue, ok bool) {
	r = queue.Requeue{Reason: v.Reason, Alone: v.Alone, WithinNominal: v.WithinNominal}
	if v.Outcome == Wait && v.Reason == queue.NoCandidates {
		r.RetryAt = v.Decision.RetryAt
	}
	return r, v.Outcome != Admit
}

// Gates returns the gates of the head as the verdict leaves them: for Gated with the signal
// raised, for all others with the signal taken back, as it is a statement about now. changed
// says that they are others than the head's: the workload is then to be updated.
func (v HeadResult) Gates(now time.Time) (g gate.Gates, changed bool) {
	had := v.Head.Workload.Gates
	if v.Outcome == Gated {
		return had.Signalled(now), !had.Blocked.Signals()
	}
	return had.Cleared(now), had.Blocked.Active
}

// Result is what a cycle comes to, as plain data. The zero value is a cycle without heads.
type Result struct {
	// Heads is one for each head, in the order in which they were served.
	Heads []HeadResult `json:"verdicts,omitempty"`
	// Again says that another cycle at the same time may change something: somebody was
	// admitted or preempts, a head stepped aside for the next of its queue, or what the
	// next cycle reads of a head changed. Repeated as long as it says so, cycles come to
	// an end. Then nothing changes before an event or the time of [queue.Pending.NextAt].
	Again bool `json:"again,omitzero"`
}

// Edits returns what the cycle does to the snapshot: who is admitted, and who is told to
// stop. They are for one [preemption.Snapshot.With].
func (r Result) Edits() []preemption.Edit {
	var edits []preemption.Edit
	for _, v := range r.Heads {
		if v.Outcome == Admit || v.Outcome == Preempt {
			edits = append(edits, v.Decision.Edits()...)
		}
	}
	return edits
}

// Requeued returns a victim as it waits again, once it is gone: as it was submitted, with
// all its replicas and no flavor but those that its submitter fixed (KEP-83, "Reassigning
// flavors after preemption"), its gates closed, with the timestamp of
// [preemption.Victim.Requeued].
//
// submitted is the workload as it last waited, as the head that was admitted
// ([HeadResult.Head]): not as it ran, with the flavors assigned and what was left of its
// replicas. It fails when that one holds quota, which has a reservation, or was told to
// stop, and when it is not the victim.
func Requeued(v preemption.Victim, submitted workload.Workload, evictedAt time.Time) (workload.Workload, error) {
	var faults fault.List
	if submitted.ID != v.Workload {
		faults.Add("submitted.id", "%q is not the victim, %q", submitted.ID, v.Workload)
	}
	if !submitted.ReservedAt.IsZero() || submitted.Evicted {
		faults.Add("submitted", "workload %q as it ran, not as it was submitted", submitted.ID)
	}
	w := submitted.Clone()
	if err := faults.Err(); err != nil {
		return w, err
	}
	w.Queued = v.Requeued(w.Queued, evictedAt)
	w.Gates = w.Gates.Evicted(evictedAt)
	return w, nil
}
