package placement

import (
	"time"

	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/workload"
)

// Outcome is what a decision comes to. The zero value is invalid.
type Outcome uint8

const (
	// Fits: there is room; nobody has to yield. See Decision.Nominations.
	Fits Outcome = 1 + iota
	// Preempt: there is room once the victims are gone.
	Preempt
	// Wait: there is room once pods are gone that terminate already; nobody more has to
	// yield.
	Wait
	// Impossible: no permitted set of victims makes room; see Decision.Reason.
	Impossible
)

// Succeeds reports whether the request gets its place by this decision: at once (Fits) or
// when the victims are gone (Preempt).
func (o Outcome) Succeeds() bool { return o == Fits || o == Preempt }

// Reason says why preemption is impossible. The zero value is none.
type Reason uint8

const (
	// PolicyNever: the priority class does not preempt.
	PolicyNever Reason = 1 + iota
	// NoVictims: nothing of lower priority that may yield runs in any domain. For a single
	// pod these are the nodes where it may run.
	NoVictims
	// NoRoom: even with everything gone that may be preempted there is too little room.
	NoRoom
	// Budgets: there would be room, but only by violating a disruption budget (see
	// Config.Budgets).
	Budgets
)

// Decision answers a [Request]. The zero value is invalid.
type Decision struct {
	Outcome Outcome `json:"outcome"`
	// Reason is, for Impossible, why. Else zero.
	Reason Reason `json:"reason,omitzero"`
	Candidate
	// Withdrawn is, for Preempt, the IDs of other pods whose promises are void, sorted: those
	// of lower priority that were promised room on a node of Nominations, and those of a
	// group that yields whole.
	Withdrawn []string `json:"withdrawn,omitempty"`
	// Pods is the pods of the request as they are from now on, in its order: with the group
	// and the priority that count, and on the Node of their nomination. Without a node they
	// have no place, and no promise any more. For Fits of a group that is Basic those that do
	// not fit are left out: their promises stay.
	Pods []workload.Pod `json:"pods,omitempty"`
	// Now is that of the request.
	Now time.Time `json:"now,omitzero"`
}

// Candidate is one domain and what preempting there takes.
type Candidate struct {
	// Domain is the domain: the name of a node for a single pod, of the caller's domain
	// for a group, else empty.
	Domain string `json:"domain,omitempty"`
	// Nominations is which pod goes where, in the order of the request. Pods of a
	// group that have no room are not in it.
	Nominations []Nomination `json:"nominations,omitempty"`
	// Victims is who must yield, sorted by ID of the first pod. No one of them
	// can be put back where it runs. (For several pods of a group that is Basic: those
	// of each pod by itself.)
	Victims []Victim `json:"victims,omitempty"`
	// Violations is how many pods are evicted against a disruption budget.
	Violations int `json:"violations,omitempty"`
	// Placeable is, for Impossible, the most pods of the request that had a place, in any
	// domain, with everything gone that may be preempted. Else it is the length of
	// Nominations.
	Placeable int `json:"placeable"`
}

// Nomination promises a pod room on a node.
type Nomination struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// Victim is a unit that must yield: a pod, or a whole group.
type Victim struct {
	// Group is the ID of the group that yields whole; empty for a pod by itself.
	Group string `json:"group,omitempty"`
	// Pods is the IDs of its pods, sorted, in whatever domain they run.
	Pods []string `json:"pods"`
	// Priority is the one that counts: the group's, if there is one.
	Priority int32 `json:"priority"`
	// Violations is how many of its pods are evicted against a disruption budget.
	Violations int `json:"violations,omitempty"`
}

// Edits returns what the decision does to the snapshot it was made on. Fits: the pods run
// where they were placed. Preempt: the eviction of each victim starts, promises in the way
// are withdrawn, and the pods are nominated. Wait: they are nominated, where that is new.
// Impossible: what they were promised is withdrawn.
//
// Budgets stay as they are: who evicts sets what they allow then ([SetBudget]), before the
// next request, as the disruption controller of Kubernetes does.
func (d Decision) Edits() []Edit {
	var edits []Edit
	for _, v := range d.Victims {
		for _, id := range v.Pods {
			edits = append(edits, StartEvictionAt(id, d.Now))
		}
	}
	for _, id := range d.Withdrawn {
		edits = append(edits, Withdraw(id))
	}
	for _, p := range d.Pods {
		switch {
		case p.Node == "":
			edits = append(edits, Withdraw(p.ID))
		case d.Outcome == Fits:
			edits = append(edits, Run(p))
		default:
			edits = append(edits, Nominate(p))
		}
	}
	return edits
}

var (
	outcomeNames = enum.Names[Outcome]{Type: "Outcome", First: 1, List: []string{"Fits", "Preempt", "Wait", "Impossible"}}
	reasonNames  = enum.Names[Reason]{Type: "Reason", First: 1, List: []string{"PolicyNever", "NoVictims", "NoRoom", "Budgets"}}
)

// String returns the name of the constant.
func (o Outcome) String() string { return outcomeNames.String(o) }

// MarshalText writes the name. It fails on an invalid value.
func (o Outcome) MarshalText() ([]byte, error) { return outcomeNames.Marshal(o) }

// UnmarshalText reads a name. It fails on any other text.
func (o *Outcome) UnmarshalText(text []byte) error { return outcomeNames.Unmarshal(text, o) }

// String returns the name of the constant.
func (r Reason) String() string { return reasonNames.String(r) }

// MarshalText writes the name. It fails on an invalid value.
func (r Reason) MarshalText() ([]byte, error) { return reasonNames.Marshal(r) }

// UnmarshalText reads a name. It fails on any other text.
func (r *Reason) UnmarshalText(text []byte) error { return reasonNames.Unmarshal(text, r) }
