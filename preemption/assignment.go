package preemption

import (
	"github.com/cedesched/cede/workload"
)

// Assignment holds the flavors assigned to requests without a flavor: one entry for each
// resource group in each pod set, in the order in which they were chosen: by pod set, then by
// group in the order of the queue's quotas. Requests that came with a flavor are not in it.
// If no flavor was found, the last entry has none.
type Assignment []FlavorChoice

// FlavorChoice is the flavor of one resource group in one pod set, and how it was found.
type FlavorChoice struct {
	// PodSet is the name of the pod set.
	PodSet string `json:"podSet"`
	// Flavor is the flavor of all requests of the group. Empty: none was found; the decision
	// is then Impossible.
	Flavor string `json:"flavor,omitempty"`
	// Resources lists the requested resources, by name, and how each gets its quota.
	Resources []AssignedResource `json:"resources"`
	// Tried lists the flavors that were tried, in order. Empty if the queue has no quota for
	// the resources in any flavor.
	Tried []TriedFlavor `json:"tried,omitempty"`
	// Untried is the number of flavors of the group after those: the search stopped before
	// them. See [Request.Continue].
	Untried int `json:"untried,omitzero"`
}

// AssignedResource says how one resource gets its quota in the flavor of its group.
type AssignedResource struct {
	Resource string         `json:"resource"`
	Mode     AssignmentMode `json:"mode"`
	// Possibility is, for ModePreempt, what preemption could do for this resource alone; else
	// zero. The decision is about all resources together, so it may find no victims although
	// each resource alone has candidates.
	Possibility Possibility `json:"possibility,omitzero"`
	// BorrowHeight is as in Decision.BorrowHeight, for this resource alone, without the
	// victims that it alone would need.
	BorrowHeight int `json:"borrowHeight"`
}

// TriedFlavor says how one flavor was judged. A flavor is judged by its worst resource.
type TriedFlavor struct {
	Flavor string `json:"flavor"`
	// AssignedResource is the worst resource; if the flavor is not eligible, the first
	// resource by name.
	AssignedResource
	// Skipped says why the next flavor was tried, too. Zero for the flavor that stopped the
	// search: it is the last in the list and is assigned. If no flavor stopped the search,
	// the best one is assigned, of equals the first.
	Skipped SkipReason `json:"skipped,omitzero"`
	// Mismatch says, for NotEligible, why. Else nil.
	Mismatch *Mismatch `json:"mismatch,omitempty"`
}

// Pin returns a copy of the workload with the assigned flavors filled in, so that it can be
// decided again with the same flavors. Requests that have a flavor keep it. Requests of zero
// without quota in the queue are left out.
func (a Assignment) Pin(w workload.Workload) workload.Workload {
	w = w.Clone()
	for i := range w.PodSets {
		p := &w.PodSets[i]
		kept := p.Requests[:0]
		for _, r := range p.Requests {
			if r.Flavor == "" {
				r.Flavor = a.flavor(p.Name, r.Resource)
			}
			if r.Flavor != "" || p.Total(r.Amount) > 0 {
				kept = append(kept, r)
			}
		}
		p.Requests = kept
	}
	return w
}

func (a Assignment) flavor(podSet, resource string) string {
	for _, c := range a {
		for _, r := range c.Resources {
			if c.PodSet == podSet && r.Resource == resource {
				return c.Flavor
			}
		}
	}
	return ""
}

// AssignmentMode says how a request gets its quota in a flavor. The zero value is
// invalid.
type AssignmentMode uint8

const (
	// ModeNoFit: the request does not fit in this flavor, whichever victims yield.
	ModeNoFit AssignmentMode = 1 + iota
	// ModePreempt: the request fits only if others yield.
	ModePreempt
	// ModeFit: the request fits.
	ModeFit
)

// Possibility says what preemption can do for an amount of one resource in one flavor. The
// zero value is invalid.
type Possibility uint8

const (
	// PossibilityNoCandidates: no workloads that may yield now make it fit; or it fits
	// anyway.
	PossibilityNoCandidates Possibility = 1 + iota
	// PossibilityPreempt: it fits without the victims; some run in the same queue.
	PossibilityPreempt
	// PossibilityReclaim: it fits without the victims; all run in other queues.
	PossibilityReclaim
)

// SkipReason says why the search for a flavor did not stop at one. The zero value is invalid.
type SkipReason uint8

const (
	// NoQuota: the queue has no quota for the resource in the flavor.
	NoQuota SkipReason = 1 + iota
	// ExceedsMaxQuota: the request is more than the queue could use if nothing ran anywhere.
	ExceedsMaxQuota
	// NotReclaimable: the request takes the queue over its nominal quota, only the whole tree
	// has quota for it, and the queue may not preempt while borrowing (borrowWithinCohort
	// Never).
	NotReclaimable
	// NeverPreempts: others would have to yield, and the workload never preempts.
	NeverPreempts
	// NoCandidates: no workload may yield for it now.
	NoCandidates
	// WouldPreempt: others have to yield, and the queue's whenCanPreempt is TryNextFlavor.
	WouldPreempt
	// WouldBorrow: the queue borrows, and its whenCanBorrow is TryNextFlavor.
	WouldBorrow
	// NotEligible: the pods may not run on the nodes of the flavor; see [Mismatch].
	NotEligible
)
