package answers

import (
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
)

// The outcomes of a [Verdict] that no decision has.
const (
	Held    = "Held"    // the scheduler does not consider the workload at all
	Unknown = "Unknown" // what the answer depends on was not read, or cannot be modelled
	Runs    = "Runs"    // the workload holds its quota already
)

// Verdict is the answer about a waiting workload in one word. Every program says the same one.
type Verdict struct {
	// Outcome is Held, Unknown, or that of the decision.
	Outcome string `json:"outcome"`
	// Why is the reason of Held and Unknown, and of an Impossible without decision: a sentence without full stop. Else empty.
	Why string `json:"why,omitempty"`

	byQuota bool // Unknown of nodes alone
}

// Verdict returns the answer. A workload that is held is not admitted, whatever is not known besides.
// The decision is nil where nothing could be decided, or not yet: then the verdict is zero for a workload
// that is considered.
func (w *Waiting) Verdict(d *preemption.Decision) Verdict {
	switch {
	case w.Held != "":
		return Verdict{Outcome: Held, Why: w.Held}
	case w.Refused != "":
		return Verdict{Outcome: preemption.Impossible.String(), Why: w.Refused}
	case w.Behind != "":
		return Verdict{Outcome: Held, Why: "it stands behind " + w.Behind + ", which waits, and its queue admits strictly in order (StrictFIFO)"}
	case w.Unasked != "":
		return Verdict{Outcome: Unknown, Why: w.Unasked}
	case len(w.Doubts) > 0 && !(w.NoStands && d != nil && d.Outcome == preemption.Impossible):
		return Verdict{Outcome: Unknown, Why: w.Doubts[0]}
	case d == nil:
		return Verdict{}
	case w.tooLarge(d) != "":
		return Verdict{Outcome: Unknown, Why: w.tooLarge(d), byQuota: true}
	case d.Outcome == preemption.Fits && w.Blocked != "":
		return Verdict{Outcome: Held, Why: w.Blocked}
	case d.Outcome == preemption.Preempt && w.IfPreempts != "":
		return Verdict{Outcome: Unknown, Why: w.IfPreempts}
	}
	return Verdict{Outcome: d.Outcome.String()}
}

// Considered reports whether the workload is decided about.
func (w *Waiting) Considered() bool { return w.inLine() && len(w.Doubts) == 0 }

// inLine reports whether the workload stands in its queue.
func (w *Waiting) inLine() bool { return w.Held == "" && w.Refused == "" && w.Unasked == "" }

// decided reports whether the verdict needs a decision: the workload is considered, or it is in doubt and a
// no would stand all the same.
func (w *Waiting) decided() bool {
	return w.Behind == "" && w.inLine() && (len(w.Doubts) == 0 || w.NoStands)
}

// Sentence says a verdict about the workload of a request in a sentence that begins with its name.
func (v Verdict) Sentence(d *preemption.Decision, r *preemption.Request) string {
	v.Why = strings.TrimPrefix(v.Why, "Workload "+r.Workload.ID+": ") // the sentence names it
	switch v.Outcome {
	case Held:
		return r.Workload.ID + " is held: " + v.Why + "."
	case Unknown:
		return "Whether " + r.Workload.ID + " fits is unknown: " + v.Why + "."
	case preemption.Impossible.String():
		why := v.Why
		if d == nil {
			return r.Workload.ID + " does not fit: " + why + "."
		}
		if why == "" && !d.NoRoom {
			why, _ = WhyNot(d, r)
		}
		if why == "" {
			break
		}
		return r.Workload.ID + " " + explain.Answer(d, r) + ": " + why + "."
	}
	return r.Workload.ID + " " + explain.Answer(d, r) + "."
}

// Otherwise says, for Held and Unknown, what is decided all the same; empty: nothing.
func (v Verdict) Otherwise(d *preemption.Decision, r *preemption.Request) string {
	switch {
	case d == nil:
		return ""
	case v.Outcome == Held:
		return "Once it is considered, it " + explain.Answer(d, r) + "."
	case v.byQuota:
		return "By quota alone it " + explain.Answer(d, r) + ", and its pods would wait for such a node."
	case v.Outcome == Unknown:
		return "As far as is known, it " + explain.Answer(d, r) + "."
	}
	return ""
}

// Unassigned returns the choice of a decision that found no flavor, if there is one.
func Unassigned(d *preemption.Decision) (choice preemption.FlavorChoice, is bool) {
	if last := len(d.Assignment) - 1; last >= 0 {
		choice = d.Assignment[last]
	}
	return choice, len(choice.Resources) > 0 && choice.Flavor == ""
}
