package queue

// FlavorFungibility says when the search for a flavor stops, in a resource group with several
// flavors (Kueue's flavorFungibility). Flavors are tried in order. The zero value is Kueue's
// default: the search may stop at a flavor in which the queue borrows, and goes on after a
// flavor that needs preemption.
type FlavorFungibility struct {
	// WhenCanBorrow applies to a flavor in which the request takes the queue over its nominal
	// quota. Unset: MayStopSearch.
	WhenCanBorrow FungibilityPolicy `json:"whenCanBorrow,omitzero"`
	// WhenCanPreempt applies to a flavor in which others would have to yield. Unset:
	// TryNextFlavor.
	WhenCanPreempt FungibilityPolicy `json:"whenCanPreempt,omitzero"`
	// Preference orders the flavors if the search stopped at none. PreemptionOverBorrowing is
	// valid only if both policies are TryNextFlavor.
	Preference FlavorPreference `json:"preference,omitzero"`
}

// MayStopBorrowing reports whether the search may stop at a flavor in which the queue
// borrows.
func (f FlavorFungibility) MayStopBorrowing() bool { return f.WhenCanBorrow != TryNextFlavor }

// MayStopPreempting reports whether the search may stop at a flavor in which others have to
// yield.
func (f FlavorFungibility) MayStopPreempting() bool { return f.WhenCanPreempt == MayStopSearch }

// FungibilityPolicy says whether the search for a flavor goes on. The zero value is the
// default of its field.
type FungibilityPolicy uint8

const (
	// MayStopSearch lets the search stop at the flavor. (Kueue's v1beta1 calls it Borrow and
	// Preempt.)
	MayStopSearch FungibilityPolicy = 1 + iota
	// TryNextFlavor tries the next flavor too.
	TryNextFlavor
)

// FlavorPreference orders the flavors if the search stopped at none. The zero value is
// BorrowingOverPreemption.
type FlavorPreference uint8

const (
	// BorrowingOverPreemption orders first by what has to yield (nothing, workloads of other
	// queues only, workloads of the own queue), then by how far the queue borrows.
	BorrowingOverPreemption FlavorPreference = iota
	// PreemptionOverBorrowing orders first by how far the queue borrows, then by who has to
	// yield.
	PreemptionOverBorrowing
)
