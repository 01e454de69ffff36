package cycle

import (
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
)

// HeadOutcome is the result of a head in one word. The zero value is invalid.
type HeadOutcome uint8

const (
	// Admit: the head is admitted now.
	Admit HeadOutcome = 1 + iota
	// Preempt: the victims of its decision yield; the head is admitted in a later cycle, once
	// they are gone.
	Preempt
	// Gated: the head would preempt, but one of its gates is closed. It should raise its
	// signal; nothing is reserved for it.
	Gated
	// Wait: time, the victims of others or the next cycle may help: see HeadResult.Reason.
	Wait
	// Inadmissible: the head does not fit, and only an event can help it.
	Inadmissible
)

// HeadResult is the result of one head, as plain data. The zero value is invalid.
type HeadResult struct {
	// Head is the head as given.
	Head    queue.Head  `json:"head"`
	Outcome HeadOutcome `json:"outcome"`
	// Reason says, for all outcomes but Admit, why the head is requeued:
	//   - PendingPreemption: victims are terminating: its own for Preempt; for Wait any
	//     that make it fit, also victims of others.
	//   - FailedAfterNomination, for Wait: earlier heads took the room. The head is tried
	//     again in the next cycle.
	//   - NoCandidates: no workload may yield; for Wait until Decision.RetryAt, and for
	//     Inadmissible.
	//   - NoFit, for Inadmissible: the request is more than its queue could ever have.
	//   - Gated.
	Reason queue.RequeueReason `json:"reason,omitzero"`
	// Decision is the decision behind the result, in the snapshot without everything that was told
	// to stop, and with what earlier heads got. For Preempt it has the victims that are told to stop
	// by this cycle; no victim serves two heads. For Wait with PendingPreemption its Outcome is
	// Fits: the head fits once what is leaving has left, and nothing of the decision is carried
	// out before. For Gated it has the victims that would yield. For NoCandidates and
	// NoFit it has the shortage and the blockers. For FailedAfterNomination it is the
	// decision as if the head were the only one.
	Decision preemption.Decision `json:"decision"`
	// Alone and WithinNominal are the fields of [queue.Requeue]; WithinNominal is set only
	// under KEP83Lasting.
	Alone         bool `json:"alone,omitzero"`
	WithinNominal bool `json:"withinNominal,omitzero"`
	// Again says that the result of this head is a reason for another cycle; see [Result.Again].
	Again bool `json:"again,omitzero"`
}

// Requeue returns how to requeue the head; ok is false for Admit.
func (v HeadResult) Requeue() (r queue.Requeue, ok bool) {
	r = queue.Requeue{Reason: v.Reason, Alone: v.Alone, WithinNominal: v.WithinNominal}
	if v.Outcome == Wait && v.Reason == queue.NoCandidates {
		r.RetryAt = v.Decision.RetryAt
	}
	return r, v.Outcome != Admit
}

// Return returns the pending workloads after this result: an admitted head is gone, any other is back as
// Requeue says, with the gates that Gates says. It fails as [queue.Pending.Admit], [queue.Pending.Update] and
// [queue.Pending.Requeue] do, and then returns pending as it was given.
func (v HeadResult) Return(pending *queue.Pending, now time.Time) (*queue.Pending, error) {
	back, waits := v.Requeue()
	if !waits {
		return pending.Admit(v.Head.Workload.ID)
	}
	next, err := pending, error(nil)
	if w, _, ok := pending.Find(v.Head.Workload.ID); ok { // as it is, if it changed since the cycle read it
		var changed bool
		if w.Gates, changed = v.gates(w.Gates, now); changed {
			next, err = pending.Update(w)
		}
	}
	if err == nil {
		next, err = next.Requeue(v.Head, back)
	}
	if err != nil {
		return pending, err
	}
	return next, nil
}

// Gates returns the gates of the head after this result: for Gated with the signal raised,
// else with the signal cleared, because the signal is about now. changed says that they
// differ from the gates of the head; then update the workload.
func (v HeadResult) Gates(now time.Time) (g gate.Gates, changed bool) {
	return v.gates(v.Head.Workload.Gates, now)
}

func (v HeadResult) gates(had gate.Gates, now time.Time) (g gate.Gates, changed bool) {
	if v.Outcome == Gated {
		return had.Signalled(now), !had.Blocked.Signals()
	}
	return had.Cleared(now), had.Blocked.Active
}

// Result is the result of a cycle, as plain data. The zero value is a cycle without heads.
type Result struct {
	// Settled is, with [Config.Settle], the answer about what is over: its victims are told to leave before the heads are served. Else nil.
	Settled *settle.Answer `json:"settled,omitempty"`
	// Heads holds one result for each head, in the order in which they were served.
	Heads []HeadResult `json:"heads,omitempty"`
	// Again says that another cycle at the same time may change something: a head was
	// admitted or preempts, a head became inadmissible and the next workload of its queue is
	// the head, or the data of a head for the next cycle changed. Cycles repeated while Again
	// is true come to an end. After that nothing changes before an event or the time of
	// [queue.Pending.NextAt].
	Again bool `json:"again,omitzero"`
	// Looked is how many workloads the decisions about the heads looked at: for a caller that runs cycles in advance and stops at a
	// bound that is the same on every machine. The number may change with any version, and is no part of the JSON form.
	Looked int `json:"-"`
}

// Apply carries the cycle out: it returns the snapshot after Edits, and the pending workloads after
// [HeadResult.Return] of each head. s and pending are those that the cycle was run on, or later ones. It fails as
// [preemption.Snapshot.With] and Return do, and then returns both as they were given. Carried out again on the snapshot
// that it led to, it changes nothing there.
func (r Result) Apply(s *preemption.Snapshot, pending *queue.Pending, now time.Time) (*preemption.Snapshot, *queue.Pending, error) {
	after, err := s.With(r.Edits()...)
	rest := pending
	for i := 0; i < len(r.Heads) && err == nil; i++ {
		rest, err = r.Heads[i].Return(rest, now)
	}
	if err != nil {
		return s, pending, err
	}
	return after, rest, nil
}

// Edits returns the edits of the cycle: each victim that is told to stop and each head that is admitted. Apply
// them with one [preemption.Snapshot.With].
func (r Result) Edits() []preemption.Edit {
	var edits []preemption.Edit
	if r.Settled != nil {
		edits = r.Settled.Edits()
	}
	for _, v := range r.Heads {
		if v.Outcome == Admit || v.Outcome == Preempt {
			edits = append(edits, v.Decision.Edits()...)
		}
	}
	return edits
}

// Events returns what the cycle adds to the history of preemptions if it is carried out at a time; s is
// the snapshot that it was run on. See [preemption.Decision.Events].
func (r Result) Events(s *preemption.Snapshot, at time.Time) (list []limits.Event) {
	if r.Settled != nil {
		list = r.Settled.Events(s, at)
	}
	for i := range r.Heads {
		if v := &r.Heads[i]; v.Outcome == Preempt {
			list = append(list, v.Decision.Events(s, preemption.Request{Workload: v.Head.Workload}, at)...)
		}
	}
	return list
}
