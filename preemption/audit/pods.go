package audit

import (
	"github.com/cedesched/cede/preemption/placement"
)

// PodEviction is what a scheduler did on nodes: it told pods to stop, so that a pod or a group has room. The zero value is
// invalid.
type PodEviction struct {
	// Request is that of the preemptor. Now is the instant at which the victims were told.
	Request placement.Request `json:"request"`
	// Placed says for which nodes the room was made, as far as it is known: these pods of the request alone then count, on
	// these nodes, and Request.Domains and its other needs do not. Empty: the victims may make room in any way. For one pod that
	// is exact; for a group, as far as Config.Order finds a way beside those that stay.
	Placed []placement.Nomination `json:"placed,omitempty"`
	// Victims are the IDs of pods that ran in the snapshot and were told to stop, in any order. One pod of a group that
	// yields whole stands for the group.
	Victims []string `json:"victims"`
	// Cost says what a unit loses. It must not be negative. Nil: the number of its pods. JSON leaves it out.
	Cost func(placement.Unit) int64 `json:"-"`
}

// PodFinding is what is to be said of an eviction on nodes. The zero value is invalid.
type PodFinding struct {
	// Verdict is as for [Finding]. NotPermitted: the priority of a victim is not lower, a minimum runtime or a guard keeps
	// it, they are too many for a budget that must not be violated, or the preemptor may preempt nobody.
	Verdict Verdict `json:"verdict"`
	// Victims are the units of the eviction, by group and pods.
	Victims []PodVictim `json:"victims"`
	// Lost is what the victims lose by Cost.
	Lost int64 `json:"lost"`
	// Avoidable is how much less the rules permitted to lose, at least: all of it where the request fits as things are, or where it
	// had to wait; else what one victim that could stay loses, or the difference from the node or domain in which the rules lose least. Zero for
	// NotEnough.
	Avoidable int64 `json:"avoidable"`
	// Better: Instead comes before what was done by step 8 of package placement. A scheduler that compares some of the nodes may
	// not have seen it: that is no fault.
	Better bool `json:"better,omitzero"`
	// Instead is what the rules of the configuration choose at that instant.
	Instead placement.Decision `json:"instead"`
	// Least is where least is lost. Zero: there is no way, or nobody has to leave.
	Least placement.Placement `json:"least,omitzero"`
}

// PodVictim is what is to be said of a victim on nodes: a pod, or a group that yields whole.
type PodVictim struct {
	// Victim has its pods and its priority. Violations are of budgets if nobody but the victims is charged. Order is zero.
	placement.Victim
	// CouldStay: the request has room while it stays and the other victims leave.
	CouldStay bool `json:"couldStay,omitzero"`
	// Kept is the rule that keeps it. Nil: none does.
	Kept *placement.Blocker `json:"kept,omitempty"`
	// Lost is what it loses by Cost.
	Lost int64 `json:"lost"`
}
