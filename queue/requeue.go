package queue

import (
	"time"

	"github.com/cedesched/cede/internal/base/enum"
)

// RequeueReason says why a head was not admitted. The zero value is invalid.
type RequeueReason uint8

const (
	// FailedAfterNomination: another workload of the same cycle took its room, or the
	// caller failed to carry the decision out. It is tried again in the next cycle.
	FailedAfterNomination RequeueReason = 1 + iota
	// PendingPreemption: its room is on its way; victims are terminating. Under
	// BestEffortFIFO it is then the first of its queue, whatever comes: else a newcomer
	// of higher priority takes the room, and the victims went for nothing.
	PendingPreemption
	// Gated: closed gates alone keep it from preempting.
	Gated
	// NoFit: it asks for more than its queue could ever have.
	NoFit
	// NoCandidates: it does not fit, and nobody may yield (yet: see Requeue.RetryAt).
	NoCandidates
	// Invalid: something is wrong with the workload itself.
	Invalid
)

var reasonNames = enum.Names[RequeueReason]{Type: "RequeueReason", First: 1, List: []string{"FailedAfterNomination", "PendingPreemption", "Gated", "NoFit", "NoCandidates", "Invalid"}}

// String returns the name of the constant.
func (r RequeueReason) String() string { return reasonNames.String(r) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (r RequeueReason) MarshalText() ([]byte, error) { return reasonNames.Marshal(r) }

// UnmarshalText reads a name. It fails on any other text.
func (r *RequeueReason) UnmarshalText(text []byte) error { return reasonNames.Unmarshal(text, r) }

// again reports whether the head is tried again in the next cycle under BestEffortFIFO;
// under StrictFIFO every head is.
func (r RequeueReason) again() bool { return r == FailedAfterNomination || r == PendingPreemption }

// hopeless reports whether workloads that are like it have no better chance.
func (r RequeueReason) hopeless() bool { return r == NoFit || r == NoCandidates }

// Requeue is how a head goes back, as plain data. The zero value is invalid: it needs a
// reason.
type Requeue struct {
	Reason RequeueReason `json:"reason"`
	// RetryAt brings an inadmissible workload back at the latest: the time of a
	// decision that waits. Zero: time alone does not.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// NotBefore keeps the workload away until then, whatever happens: a backoff (see
	// [Backoff]). Zero: no backoff.
	NotBefore time.Time `json:"notBefore,omitzero"`
	// Alone makes this workload inadmissible and not those that are like it: for a
	// decision that read what [Pending.AlikeBy] does not say.
	Alone bool `json:"alone,omitzero"`
	// WithinNominal says that the workload waits for no more than the nominal quota of its
	// queue. While it waits, in the order or aside, or others wait that stepped aside with
	// it, heads of its cohort tree say so ([Head.NominalWaits]).
	WithinNominal bool `json:"withinNominal,omitzero"`
}

// Backoff is how long a workload that failed again and again is kept away: Base after
// the first time, and twice as long after each further one. The zero value never does.
type Backoff struct {
	// Base is the first delay.
	Base time.Duration
	// Max bounds the delay. Zero: no bound.
	Max time.Duration
	// Attempts is after how many times to give up. Zero: never.
	Attempts int
}

// After returns the delay after the given number of attempts, the first one being 1, and
// whether to go on at all.
func (b Backoff) After(attempts int) (delay time.Duration, again bool) {
	if b.Attempts > 0 && attempts > b.Attempts {
		return 0, false
	}
	const longest = 1<<63 - 1
	delay = b.Base
	for i := 1; i < attempts && delay < longest && (b.Max == 0 || delay < b.Max) && delay > 0; i++ {
		delay = min(delay, longest/2) * 2
	}
	if b.Max > 0 {
		delay = min(delay, b.Max)
	}
	return max(0, delay), true
}
