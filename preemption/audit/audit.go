package audit

import (
	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/preemption"
)

// Eviction is what a scheduler did: it told the victims to leave, so that a request fits. The zero value is invalid.
type Eviction struct {
	// Request is that of the preemptor. Now is the instant at which the victims were told.
	Request preemption.Request `json:"request"`
	// Victims are their IDs, in any order. Each runs in the snapshot, and was told to leave as a whole.
	Victims []string `json:"victims"`
}

// Verdict is what is to be said of an eviction. The zero value is invalid.
type Verdict uint8

const (
	// Right: the rules permit the victims, and none of them could stay.
	Right Verdict = 1 + iota
	// Fitted: the request fits while all victims stay, or what was leaving already is enough.
	Fitted
	// TooMany: the rules permit some of the victims, and these are enough: the others could stay.
	TooMany
	// NotPermitted: the request fits without the victims, but the rules do not permit that they leave for it, or a gate of
	// the preemptor is closed.
	NotPermitted
	// NotEnough: even without the victims, and what was leaving, the request does not fit.
	NotEnough
)

var verdicts = enum.Names[Verdict]{Type: "Verdict", First: 1, List: []string{"Right", "Fitted", "TooMany", "NotPermitted", "NotEnough"}}

// String returns the name.
func (v Verdict) String() string { return verdicts.String(v) }

// MarshalText returns the name. It fails on a value that is not valid.
func (v Verdict) MarshalText() ([]byte, error) { return verdicts.Marshal(v) }

// UnmarshalText reads the name. It fails on any other text.
func (v *Verdict) UnmarshalText(text []byte) error { return verdicts.Unmarshal(text, v) }

// Finding is what is to be said of an eviction. The zero value is invalid.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	// Victims are those of the eviction, by ID.
	Victims []Victim `json:"victims"`
	// Lost is what the victims lose by Config.Cost; their number, without a cost.
	Lost int64 `json:"lost"`
	// Avoidable is how much less the rules permitted to lose, at least: all of it where the request fits as things are, or
	// where it had to wait; else the difference from Instead. Zero for NotEnough.
	Avoidable int64 `json:"avoidable"`
	// Instead is the decision of the search Best at that instant, whose Proof says how much less could be lost at most.
	Instead preemption.Decision `json:"instead"`
}

// Victim is what is to be said of a victim.
type Victim struct {
	Workload string `json:"workload"`
	// Reason is the right by which it may yield. Zero: it has none, or none was needed.
	Reason preemption.VictimReason `json:"reason,omitzero"`
	// CouldStay: the request fits while it, or some replicas of an elastic one, stays and the other victims, or what was leaving
	// already, leave.
	CouldStay bool `json:"couldStay,omitzero"`
	// Kept is, for NotPermitted, what keeps it once the other victims are gone. Nil: nothing does, or not it alone.
	Kept *preemption.Blocker `json:"kept,omitempty"`
	// Lost is what it loses by Config.Cost; 1 without a cost.
	Lost int64 `json:"lost"`
}
