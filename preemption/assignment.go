package preemption

import (
	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/workload"
)

// Assignment is the flavors that a request without flavors gets, one entry for each
// resource group in each pod set, in the order in which they were chosen: by pod set, then
// by group as the queue's quotas have them. What came with a flavor is not in it. The
// last entry is without flavor when no flavor was found.
type Assignment []FlavorChoice

// FlavorChoice is the flavor of one resource group in one pod set, and how it was found.
type FlavorChoice struct {
	// PodSet is the pod set's name.
	PodSet string `json:"podSet"`
	// Flavor is what all requests of the group get. Empty: none; the decision is then
	// Impossible.
	Flavor string `json:"flavor,omitempty"`
	// Resources is what was asked for, by name, and how each gets its quota.
	Resources []AssignedResource `json:"resources"`
	// Tried is the flavors that were tried, in order. Empty where the queue has no quota
	// of the resources in any flavor.
	Tried []TriedFlavor `json:"tried,omitempty"`
	// Untried is how many flavors of the group come after those: the search stopped
	// before them. See [Request.Continue].
	Untried int `json:"untried,omitzero"`
}

// AssignedResource is how one resource gets its quota in the flavor of its group.
type AssignedResource struct {
	Resource string         `json:"resource"`
	Mode     AssignmentMode `json:"mode"`
	// Possibility is, for ModePreempt, what preemption would come to for this resource
	// by itself: the decision is about all of them together and may find nobody though
	// each by itself has somebody. Else zero.
	Possibility Possibility `json:"possibility,omitzero"`
	// BorrowHeight is that of Decision.BorrowHeight, for this resource by itself, with
	// those gone who would be preempted for it.
	BorrowHeight int `json:"borrowHeight"`
}

// TriedFlavor is how one flavor did, which is how the worst of its resources did.
type TriedFlavor struct {
	Flavor string `json:"flavor"`
	// AssignedResource is that of the worst resource; of the first by name where the
	// flavor is not eligible.
	AssignedResource
	// Passed is why the next flavor was tried too. Zero for the flavor that stopped the
	// search, which is then the last and is taken. Of several that were passed the best
	// is taken, of equals the first.
	Skipped SkipReason `json:"passed,omitzero"`
	// Mismatch is, for NotEligible, why. Else nil.
	Mismatch *Mismatch `json:"mismatch,omitempty"`
}

// Pin returns a copy of the workload with the flavors of the assignment, to be decided
// again as it is. Requests that have a flavor keep it. Requests of nothing, of which the
// queue has no quota, are left out.
func (a Assignment) Pin(w workload.Workload) workload.Workload {
	w = w.Clone()
	for i := range w.PodSets {
		p := &w.PodSets[i]
		kept := p.Requests[:0]
		for _, r := range p.Requests {
			if r.Flavor == "" {
				r.Flavor = a.flavor(p.Name, r.Resource)
			}
			if r.Flavor != "" || p.Count > 0 && r.Amount > 0 {
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
	// ModeNoFit: not in this flavor, whoever may be preempted.
	ModeNoFit AssignmentMode = 1 + iota
	// ModePreempt: somebody has to yield, if anybody may.
	ModePreempt
	// ModeFit: there is room.
	ModeFit
)

// Possibility is what preemption for an amount of one resource in one flavor comes to.
// The zero value is invalid.
type Possibility uint8

const (
	// PossibilityNoCandidates: nobody may yield now so that it fits; also when it fits
	// anyway.
	PossibilityNoCandidates Possibility = 1 + iota
	// PossibilityPreempt: it fits once the victims are gone; some run in the same queue.
	PossibilityPreempt
	// PossibilityReclaim: it fits once the victims are gone; all run in other queues.
	PossibilityReclaim
)

// SkipReason says why a flavor did not stop the search for one. The zero value is
// invalid.
type SkipReason uint8

const (
	// NoQuota: the queue has no quota for the resource in the flavor.
	NoQuota SkipReason = 1 + iota
	// ExceedsMaxQuota: more than the queue could use if nothing ran anywhere.
	ExceedsMaxQuota
	// NotReclaimable: it takes the queue over its nominal quota and no subtree short of
	// the whole tree has quota for it, and the queue may not preempt for that
	// (borrowWithinCohort Never).
	NotReclaimable
	// NeverPreempts: somebody would have to yield, and the workload preempts nobody.
	NeverPreempts
	// NoCandidates: nobody may yield for it now.
	NoCandidates
	// WouldPreempt: somebody has to yield, and the queue's whenCanPreempt is
	// TryNextFlavor.
	WouldPreempt
	// WouldBorrow: the queue borrows, and its whenCanBorrow is TryNextFlavor.
	WouldBorrow
	// NotEligible: the pod set may not run on the flavor's nodes; see [Mismatch].
	NotEligible
)

var (
	modeNames        = enum.Names[AssignmentMode]{Type: "AssignmentMode", First: 1, List: []string{"NoFit", "Preempt", "Fit"}}
	possibilityNames = enum.Names[Possibility]{Type: "Possibility", First: 1, List: []string{"NoCandidates", "Preempt", "Reclaim"}}
	skipReasonNames  = enum.Names[SkipReason]{Type: "SkipReason", First: 1, List: []string{
		"NoQuota", "ExceedsMaxQuota", "NotReclaimable", "NeverPreempts", "NoCandidates", "WouldPreempt", "WouldBorrow", "NotEligible",
	}}
)

// String returns the name of the mode as Kueue has it.
func (m AssignmentMode) String() string { return modeNames.String(m) }

// MarshalText writes the name. It fails on an invalid value.
func (m AssignmentMode) MarshalText() ([]byte, error) { return modeNames.Marshal(m) }

// UnmarshalText reads a name. It fails on any other text.
func (m *AssignmentMode) UnmarshalText(text []byte) error { return modeNames.Unmarshal(text, m) }

// String returns the name of the possibility as Kueue has it.
func (p Possibility) String() string { return possibilityNames.String(p) }

// MarshalText writes the name. It fails on an invalid value.
func (p Possibility) MarshalText() ([]byte, error) { return possibilityNames.Marshal(p) }

// UnmarshalText reads a name. It fails on any other text.
func (p *Possibility) UnmarshalText(text []byte) error { return possibilityNames.Unmarshal(text, p) }

// String returns the name of the constant.
func (s SkipReason) String() string { return skipReasonNames.String(s) }

// MarshalText writes the name. It fails on an invalid value.
func (s SkipReason) MarshalText() ([]byte, error) { return skipReasonNames.Marshal(s) }

// UnmarshalText reads a name. It fails on any other text.
func (s *SkipReason) UnmarshalText(text []byte) error { return skipReasonNames.Unmarshal(text, s) }
