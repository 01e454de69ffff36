package placement

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Reason says why there is no place now. The zero value: there is one.
type Reason uint8

const (
	// ReasonPolicyNever: the priority class does not preempt.
	ReasonPolicyNever Reason = 1 + iota
	// ReasonNoVictims: no unit that may yield has lower priority and runs in any domain. For a single pod the domains
	// are the nodes on which it may run.
	ReasonNoVictims
	// ReasonNoRoom: there is too little room even without all units that may be preempted.
	ReasonNoRoom
	// ReasonBudgets: there would be room, but only by violating a disruption budget (see Config.Budgets).
	ReasonBudgets
)

// Decision answers a [Request]. The zero value is invalid.
type Decision struct {
	// Outcome is Fits, Preempt, Wait or Impossible. Wait has two cases. Either there is room once terminating pods
	// are gone; then there usually are Nominations. Or time alone helps; then RetryAt is set. If RetryAt is zero,
	// only an event helps: a pod is gone. (With a negative [Config.MaxRetrySteps] it is always zero.)
	Outcome preemption.Outcome `json:"outcome"`
	// Reason says, for Impossible, and for Wait until time helps, why there is no place now. Else zero.
	Reason Reason `json:"reason,omitzero"`
	// RetryAt is, for Wait, the first instant after Now at which the outcome is Fits or Preempt if nothing but time
	// changes, exact to the nanosecond: minimum runtimes and guards end, and the wait for terminating pods ends
	// ([Request.TerminationTimeout]). If the search for it takes too long, it is an earlier instant: see
	// [Config.MaxRetrySteps]. Zero: time alone does not help.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Blockers lists, if Reason is set, the units that may not yield and that have a pod on a node that the request
	// may use, if that pod takes some of what Shortage lists (if Shortage is empty, some of what is requested). The
	// least important comes first; there are at most [Config.MaxBlockers]. For a Basic group they are the blockers of
	// its first pod with any.
	Blockers []Blocker `json:"blockers,omitempty"`
	// Shortage lists, if Reason is set, the resources that are missing, by name. It is computed without units, the
	// first of these sets without which a resource is still missing: all units of lower priority, protected or not;
	// then the units that may yield now. For a request that preempts nothing no unit is left out. Terminating pods
	// that are waited for count as gone. It is empty if some domain has enough of each resource alone. For a Basic
	// group it is the shortage of its first pod with any.
	Shortage []Shortage `json:"shortage,omitempty"`
	Placement
	// Withdrawn lists, for Preempt, the IDs of other pods of which the nominations are void, sorted: pods of lower
	// priority nominated to a node of Nominations, and pods of a group that yields whole.
	Withdrawn []string `json:"withdrawn,omitempty"`
	// Pods are the pods of the request after the decision, in the same order: with the group and the priority that
	// count, and on the Node of their nomination. A pod without a node has no place, and no nomination any more. For
	// Fits of a Basic group the pods that do not fit are left out: their nominations stay.
	Pods []workload.Pod `json:"pods,omitempty"`
	// Now is the time of the request.
	Now time.Time `json:"now,omitzero"`
}

// Placement is one way to make room: a domain, the nodes of the pods there, and the victims. (kube-scheduler: a
// candidate.)
type Placement struct {
	// Domain is the name of the domain: of a node for a single pod, of the caller's domain for a group, else empty.
	Domain string `json:"domain,omitempty"`
	// Nominations says which pod goes to which node, in the order of the request. Pods of a group without room are
	// left out.
	Nominations []Nomination `json:"nominations,omitempty"`
	// Victims lists who must yield, sorted by ID of the first pod. None of them can be put back where it runs. (For
	// several pods of a Basic group: the victims of each pod alone.)
	Victims []Victim `json:"victims,omitempty"`
	// Violations is the number of pods evicted against a disruption budget.
	Violations int `json:"violations,omitempty"`
	// Placeable is, if there is a Reason, the largest number of pods of the request that had a place in any domain
	// without all units that may be preempted. Else it is the length of Nominations.
	Placeable int `json:"placeable"`
}

// Nomination promises room on a node to a pod.
type Nomination struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// Victim is a unit that must yield: a pod, or a whole group.
type Victim struct {
	// Group is the ID of the group that yields whole; empty for a single pod.
	Group string `json:"group,omitempty"`
	// Pods lists the IDs of its pods, sorted, in all domains.
	Pods []string `json:"pods"`
	// Priority is the priority that counts: that of the group, if there is one.
	Priority int32 `json:"priority"`
	// Violations is the number of its pods evicted against a disruption budget.
	Violations int `json:"violations,omitempty"`
	// Order is the victim's number in the order in which the victims were chosen, from 1: the most important first.
	Order int `json:"order,omitempty"`
}

// InOrderOfChoice returns the victims in the order in which they were chosen; see [Victim.Order].
func (c *Placement) InOrderOfChoice() []Victim {
	list := slices.Clone(c.Victims)
	slices.SortStableFunc(list, func(a, b Victim) int { return cmp.Compare(a.Order, b.Order) })
	return list
}

// Blocker is a unit that may not yield.
type Blocker struct {
	Rule Rule `json:"rule"`
	// Group is the ID of the group that yields whole; empty for a single pod.
	Group string `json:"group,omitempty"`
	// Pod is the ID of the first of its pods, by UID and ID.
	Pod string `json:"pod"`
	// Priority is the priority that counts.
	Priority int32 `json:"priority,omitempty"`
	// Until is the last instant at which the rule holds, if time ends it. Else zero.
	Until time.Time `json:"until,omitzero"`
	// SetBy is, for RuleMinRuntime, what sets the minimum runtime: `pod "ns/a"`, `group "ns/train"` or "default".
	// Else empty.
	SetBy string `json:"setBy,omitempty"`
}

// Rule is a rule that keeps a unit from being a victim. The zero value is invalid.
type Rule uint8

const (
	// RulePriority: the priority of the unit is not lower.
	RulePriority Rule = 1 + iota
	// RuleMinRuntime: the minimum runtime of the unit is not over. Its text is GuaranteedRuntime.
	RuleMinRuntime
	// RuleGuarded: a guard of the caller protects the unit (Config.Guards).
	RuleGuarded
	// RuleTerminating: a pod of the unit was told to stop, and is not waited for: the termination timeout has passed, or, in
	// ModeDesign, it was not preempted and its priority is not lower. In ModeDesign the pods of its group that were not
	// told to stop are a unit of their own.
	RuleTerminating
	// RuleBudget: evicting the unit violates a disruption budget, and Config.Budgets is [Hard].
	RuleBudget
)

// Shortage is a resource of which there is too little.
type Shortage struct {
	Resource string `json:"resource"`
	// Missing is the least additional amount that would have to be free on one node, in the unit of the resource, to
	// place one more pod, if that pod needs no more than the smallest pod. Claims count for a single pod, and only those that
	// no other pod holds.
	Missing int64 `json:"missing"`
	// Domains is the number of domains with too little of it; for a single pod, of nodes on which it may run.
	Domains int `json:"domains"`
}

// Edits returns the edits that carry out the decision on its snapshot. Fits: the pods run where they were placed.
// Preempt: the eviction of each victim starts, conflicting nominations are withdrawn, and the pods are nominated.
// Wait and Impossible: new nominations are made; nominations of pods that have none now are withdrawn.
//
// Edits does not change budgets. Before the next request the caller sets what they then allow ([SetBudget]), as the
// disruption controller of Kubernetes does.
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
