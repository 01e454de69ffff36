package placement

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Reason says why there is no place now. The zero value is none.
type Reason uint8

const (
	// ReasonPolicyNever: the priority class does not preempt.
	ReasonPolicyNever Reason = 1 + iota
	// ReasonNoVictims: nothing of lower priority that may yield runs in any domain. For a single
	// pod these are the nodes where it may run.
	ReasonNoVictims
	// ReasonNoRoom: even with everything gone that may be preempted there is too little room.
	ReasonNoRoom
	// ReasonBudgets: there would be room, but only by violating a disruption budget (see
	// Config.Budgets).
	ReasonBudgets
)

// Decision answers a [Request]. The zero value is invalid.
type Decision struct {
	// Outcome is Fits, Preempt, Wait or Impossible. Wait is said in two cases. There is room
	// once pods are gone that terminate already: then there are Nominations, as a rule. Or
	// time alone helps: then there is RetryAt. With a zero RetryAt only an event helps: that
	// a pod is gone. (With [Config.SkipRetryAt] it is always zero.)
	Outcome preemption.Outcome `json:"outcome"`
	// Reason is, for Impossible, and for Wait until time helps, why not now. Else zero.
	Reason Reason `json:"reason,omitzero"`
	// RetryAt is, for Wait, the first instant after Now at which the answer is Fits or
	// Preempt with nothing but time changed, to the nanosecond: minimum runtimes and the
	// protection of guards end, and terminating pods are waited for no longer
	// ([Request.TerminationTimeout]). Where finding it takes too long it is an earlier
	// instant: see [Config.MaxRetrySteps]. Zero: time alone does not help.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Blockers is, where Reason is set, who may not yield: units with a pod on a node that
	// the request may use which takes some of what Shortage lists, or of anything that is
	// asked for where that is empty. The least important first; at most
	// [Config.MaxBlockers]. For a group that is basic it is that of its first pod that has
	// any.
	Blockers []Blocker `json:"blockers,omitempty"`
	// Shortage is, where Reason is set, the resources of which too little can be had, by
	// name: even with everybody of lower priority gone, protected or not; where that would
	// do, with everybody gone who may yield now; for a request that preempts nobody with
	// nobody gone. Pods that terminate and are waited for count as gone. It is empty where
	// in some domain there is enough of each resource by itself. For a group that is basic
	// it is that of its first pod that has any.
	Shortage []Shortage `json:"shortage,omitempty"`
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
	// Chosen is its place in the order in which the victims were chosen, from 0: those that
	// violate a budget first, and of both kinds the most important first.
	Chosen int `json:"chosen,omitempty"`
}

// InOrderOfChoice returns the victims in the order in which they were chosen; see
// [Victim.Chosen].
func (c *Candidate) InOrderOfChoice() []Victim {
	list := slices.Clone(c.Victims)
	slices.SortStableFunc(list, func(a, b Victim) int { return cmp.Compare(a.Chosen, b.Chosen) })
	return list
}

// Blocker is a unit that may not yield.
type Blocker struct {
	Rule Rule `json:"rule"`
	// Group is the ID of the group that yields whole; empty for a pod by itself.
	Group string `json:"group,omitempty"`
	// Pod is the ID of the first of its pods, by UID and ID.
	Pod string `json:"pod"`
	// Priority is the one that counts.
	Priority int32 `json:"priority,omitempty"`
	// Until is, where time ends the rule, the last instant at which it holds. Else zero.
	Until time.Time `json:"until,omitzero"`
	// SetBy is, for RuleGuaranteedRuntime, whose setting it is, as in `pod "ns/a"` or
	// `group "ns/train"`, or "default". Else empty.
	SetBy string `json:"setBy,omitempty"`
}

// Rule is what keeps a unit from being a victim. The zero value is invalid.
type Rule uint8

const (
	// RulePriority: its priority is not lower.
	RulePriority Rule = 1 + iota
	// RuleGuaranteedRuntime: it has not run its minimum runtime yet.
	RuleGuaranteedRuntime
	// RuleGuarded: a rule of the caller's own keeps it (Config.Guards).
	RuleGuarded
	// RuleTerminating: a pod of it was told to go longer ago than the termination timeout.
	RuleTerminating
	// RuleBudget: evicting it violates a disruption budget, which is [Hard].
	RuleBudget
)

// Shortage is a resource of which too little can be had.
type Shortage struct {
	Resource string `json:"resource"`
	// Missing is how much more would have to be free on one node at least, in the resource's
	// unit, for one more pod that needs as little of it as the smallest.
	Missing int64 `json:"missing"`
	// Domains is in how many domains there is too little of it: for a single pod nodes where
	// it may run.
	Domains int `json:"domains"`
}

// Edits returns what the decision does to the snapshot it was made on. Fits: the pods run
// where they were placed. Preempt: the eviction of each victim starts, promises in the way
// are withdrawn, and the pods are nominated. Wait and Impossible: the pods are nominated that
// have a nomination, where that is new; what others were promised is withdrawn.
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
		case d.Outcome == preemption.Fits:
			edits = append(edits, Run(p))
		default:
			edits = append(edits, Nominate(p))
		}
	}
	return edits
}

var (
	ruleNames   = enum.Names[Rule]{Type: "Rule", First: 1, List: []string{"Priority", "GuaranteedRuntime", "Guarded", "Terminating", "Budget"}}
	reasonNames = enum.Names[Reason]{Type: "Reason", First: 1, List: []string{"PolicyNever", "NoVictims", "NoRoom", "Budgets"}}
)

// String returns the name of the constant.
func (r Reason) String() string { return reasonNames.String(r) }

// MarshalText writes the name. It fails on an invalid value.
func (r Reason) MarshalText() ([]byte, error) { return reasonNames.Marshal(r) }

// UnmarshalText reads a name. It fails on any other text.
func (r *Reason) UnmarshalText(text []byte) error { return reasonNames.Unmarshal(text, r) }

// String returns the name of the constant, without "Rule".
func (r Rule) String() string { return ruleNames.String(r) }

// MarshalText writes the name. It fails on an invalid value.
func (r Rule) MarshalText() ([]byte, error) { return ruleNames.Marshal(r) }

// UnmarshalText reads a name. It fails on any other text.
func (r *Rule) UnmarshalText(text []byte) error { return ruleNames.Unmarshal(text, r) }
