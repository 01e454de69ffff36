package placement

import "github.com/cedesched/cede/internal/base/enum"

var (
	modeNames       = enum.Names[Mode]{Type: "Mode", List: []string{"Design", "InPlace", "Replace"}}
	orderNames      = enum.Names[Order]{Type: "Order", List: []string{"FirstFit", "BestFit", "RoundRobin"}}
	budgetNames     = enum.Names[BudgetRule]{Type: "BudgetRule", List: []string{"Soft", "Hard"}}
	reachNames      = enum.Names[Reach]{Type: "Reach", List: []string{"SameNode", "Cluster"}}
	disruptionNames = enum.Names[DisruptionMode]{Type: "DisruptionMode", List: []string{"Pod", "PodGroup"}}
	policyNames     = enum.Names[Policy]{Type: "Policy", List: []string{"PreemptLowerPriority", "Never"}}
	outcomeNames    = enum.Names[Outcome]{Type: "Outcome", First: 1, List: []string{"Fits", "Preempt", "Wait", "Impossible"}}
	reasonNames     = enum.Names[Reason]{Type: "Reason", First: 1, List: []string{"PolicyNever", "NoVictims", "NoRoom", "Budgets"}}
)

// String returns the name of the constant.
func (m Mode) String() string { return modeNames.String(m) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (m Mode) MarshalText() ([]byte, error) { return modeNames.Marshal(m) }

// UnmarshalText reads a name. It fails on any other text.
func (m *Mode) UnmarshalText(text []byte) error { return modeNames.Unmarshal(text, m) }

// String returns the name of the constant.
func (o Order) String() string { return orderNames.String(o) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (o Order) MarshalText() ([]byte, error) { return orderNames.Marshal(o) }

// UnmarshalText reads a name. It fails on any other text.
func (o *Order) UnmarshalText(text []byte) error { return orderNames.Unmarshal(text, o) }

// String returns the name of the constant.
func (b BudgetRule) String() string { return budgetNames.String(b) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (b BudgetRule) MarshalText() ([]byte, error) { return budgetNames.Marshal(b) }

// UnmarshalText reads a name. It fails on any other text.
func (b *BudgetRule) UnmarshalText(text []byte) error { return budgetNames.Unmarshal(text, b) }

// String returns the name of the constant.
func (r Reach) String() string { return reachNames.String(r) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (r Reach) MarshalText() ([]byte, error) { return reachNames.Marshal(r) }

// UnmarshalText reads a name. It fails on any other text.
func (r *Reach) UnmarshalText(text []byte) error { return reachNames.Unmarshal(text, r) }

// String returns the name as the KEP has it.
func (m DisruptionMode) String() string { return disruptionNames.String(m) }

// MarshalText writes the name. It fails on an invalid value.
func (m DisruptionMode) MarshalText() ([]byte, error) { return disruptionNames.Marshal(m) }

// UnmarshalText reads a name. It fails on any other text.
func (m *DisruptionMode) UnmarshalText(text []byte) error { return disruptionNames.Unmarshal(text, m) }

// String returns the name as Kubernetes has it.
func (p Policy) String() string { return policyNames.String(p) }

// MarshalText writes the name. It fails on an invalid value.
func (p Policy) MarshalText() ([]byte, error) { return policyNames.Marshal(p) }

// UnmarshalText reads a name. It fails on any other text.
func (p *Policy) UnmarshalText(text []byte) error { return policyNames.Unmarshal(text, p) }

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
