// Package workers answers about a workload that a manager of MultiKueue sent to several worker clusters: which gate opens when,
// who yields where, and what is waited for. The decision in each worker is made before, as about any workload that waits; this
// package puts them together as Kueue's manager does.
//
// Source of the rules: KEP-8303, and Kueue 0.19 (pkg/controller/admissionchecks/multikueue/workload.go, reconcileGroup).
package workers

import (
	"time"

	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// The verdicts. The first that holds is the answer.
const (
	Unknown  = "unknown"           // the files do not decide it
	Running  = "running"           // a copy is admitted
	Waits    = "waits-for-victims" // a copy that no gate holds back has told victims to stop, and they still hold quota
	Fits     = "fits"              // a worker takes the workload in its next cycle, and nobody yields
	OpensNow = "gate-opens-now"    // the manager opens a gate when it next looks
	OpensAt  = "gate-opens-at"     // the same at a time
	Nothing  = "nothing-can-open"  // no closed gate with a signal, and no room
)

// Worker is a worker cluster of a workload, as far as it is known.
type Worker struct {
	Name   string
	Unread string // why nothing is known of it; empty: it was read
	Lost   string // why the manager does not reach it; empty: it does
	// LostUnknown says that the manager's objects do not say whether it reaches the worker.
	LostUnknown bool
	Copy        *kueue.Copy   // nil: there is none
	Short       answers.Short // the decision about the copy; zero without one, or where it has its quota
	Offer       gate.Offer    // what its victims lose
	Told        time.Time     // when the first of the victims that are leaving was told to; zero: none is, or it is not known

	// Cluster and Waiting are where and as what it waits, to play on; nil: it is not decided about.
	Cluster *answers.Cluster
	Waiting *answers.Waiting
}

// Question is a workload of a manager, and its workers.
type Question struct {
	Manager kueue.Copy
	Check   string // the AdmissionCheck of MultiKueue; empty: the workload has none
	// Unread says why the manager is not known; empty: it was read.
	Unread  string
	Workers []Worker // sorted by name
	Now     time.Time
	Timeout time.Duration // zero: that of Kueue
	Doubts  []string      // what is not known of the manager, beside Unread
	Design  *Design       // nil: as Kueue 0.19 does

	Ahead time.Duration // how far to play on; zero: not at all
	Leave time.Duration // how long victims take to leave
}

// Answer is what the manager does about a workload.
type Answer struct {
	Workload string `json:"workload"`
	Verdict  string `json:"verdict"`
	// Cluster is the worker that the verdict is about; null: none, or several.
	Cluster *string `json:"cluster"`
	// At is when the next gate opens if nothing else changes; null: no time is known, or it opens now.
	At *time.Time `json:"at"`
	// Victims are those who would yield in each worker if its gate were open; null: not known, or there is no copy.
	Victims  map[string][]string `json:"victims"`
	Sentence string              `json:"sentence"`
	Workers  []Row               `json:"workers"`
	Cheapest string              `json:"cheapest,omitempty"` // the worker whose victims lose least; empty: nobody would yield
	Design   string              `json:"design,omitempty"`   // what the design does where Kueue does otherwise
	Doubts   []string            `json:"doubts"`
	Forecast *Forecast           `json:"forecast,omitempty"` // how it goes on, if that was asked
}

// Row is what the answer says of one worker.
type Row struct {
	Worker  string `json:"worker"`
	Reached bool   `json:"reached"` // by the manager
	// Gate is where the gate of MultiKueue stands: open, closed, none, unknown; no copy.
	Gate     string    `json:"gate"`
	Since    time.Time `json:"since,omitzero"`    // when the gate was opened
	Signal   time.Time `json:"signal,omitzero"`   // since when the copy signals that a gate holds it back
	Opens    time.Time `json:"opens,omitzero"`    // when the gate opens if nothing else changes; absent: it does not
	Words    string    `json:"words"`             // the decision there, or why there is none
	Leaving  []string  `json:"leaving,omitempty"` // of the victims, who was told to stop before
	LostWork int64     `json:"lostWork"`          // the seconds that the victims have run
	// Lost is what the victims lose by the cost that was asked for.
	Lost quota.OptionalInt64 `json:"lost,omitzero"`
}

// state is where the gate of MultiKueue of a worker stands.
func (w *Worker) state() (state string, since time.Time) {
	if w.Copy == nil {
		return "no copy", since
	}
	g := &w.Copy.Gates
	at, open := g.OpenSince(gate.MultiKueue)
	switch {
	case w.Copy.GatesUnknown:
		return "unknown", since
	case open:
		return "open", at
	case !g.Has(gate.MultiKueue):
		return "none", since
	}
	return "closed", since
}

// signal is since when the copy signals; zero: it does not.
func (w *Worker) signal() time.Time {
	if w.Copy == nil || !w.Copy.Gates.Blocked.Active {
		return time.Time{}
	}
	return w.Copy.Gates.Blocked.Since
}

// victims are those who would yield; nil: they are not known.
func (w *Worker) victims() []string {
	switch {
	case w.Unread != "", w.Copy == nil:
		return nil
	case w.untried():
		return []string{}
	case w.Short.Outcome == answers.Unknown:
		return nil
	case w.yields():
		return w.Short.Victims
	}
	return []string{}
}

// yields reports whether somebody yields now, or would if the gates were open, or is leaving already and is enough.
func (w *Worker) yields() bool {
	switch w.Short.Outcome {
	case preemption.Preempt.String(), preemption.Gated.String():
		return true
	case preemption.Wait.String():
		return w.Short.At.IsZero()
	}
	return false
}

func (w *Worker) row() Row {
	r := Row{Worker: w.Name, Reached: w.Lost == "", Signal: w.signal(), Words: w.Short.Words, Leaving: w.Short.Leaving, LostWork: int64(w.Offer.LostWork / time.Second), Lost: w.Offer.Lost}
	r.Gate, r.Since = w.state()
	switch {
	case w.Unread != "":
		r.Gate, r.Words = "unknown", "unknown: "+w.Unread
	case w.Copy == nil:
		r.Words = "no copy is there"
	case w.Copy.Finished.Is():
		r.Words = "is finished"
	case w.Copy.Admitted.Is():
		r.Words = "runs"
	case w.Copy.Reserved.Is():
		r.Words = "has its quota, and waits for its admission checks"
	}
	return r
}
