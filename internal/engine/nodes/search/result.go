package search

import (
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/nodes/unit"
)

// Outcome is the answer of a decision in one word.
type Outcome uint8

const (
	Fits Outcome = 1 + iota
	Preempt
	Wait
	Impossible
)

// Reason says why preemption is impossible.
type Reason uint8

const (
	PolicyNever Reason = 1 + iota
	NoVictims
	NoRoom
	Budgets
)

// Result answers a request. It is valid until the next search.
type Result struct {
	Outcome Outcome
	Reason  Reason
	// Placement is the chosen one. It is empty if there is none.
	place.Placement
	// Placeable is, if no domain was chosen, the largest number of members that had a place in any domain.
	Placeable int
	// RetryAt is when the request succeeds if nothing but time changes; Unset: never.
	RetryAt int64
	// Shortages and Blockers say why there is no place.
	Shortages []Shortage
	Blockers  []Blocker
	// Withdrawn lists the IDs of other pods of which the nominations are void, sorted.
	Withdrawn []string
}

// Shortage is a resource of which there is too little.
type Shortage struct {
	Resource string
	Missing  int64 // the least, on one node, for one more pod
	Domains  int   // the number of domains with too little
}

// Blocker is a unit that may not yield.
type Blocker struct {
	Rule  unit.Rule
	Unit  *state.Unit
	Until int64 // unit.Never: without end
	// SetBy is, for a minimum runtime, the pod or group that sets the one that ends last; Source says which.
	SetBy  string
	Source unit.Source
}
