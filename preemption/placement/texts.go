package placement

import "github.com/cedesched/cede/internal/base/enum"

// The texts of constants. String returns the name of the constant, without the prefix of its type, as JSON has it.
// MarshalText fails on an invalid value, UnmarshalText on any other text.

var (
	budgetNames = enum.Names[BudgetMode]{Type: "BudgetMode", List: []string{"Soft", "Hard"}}
	chargeNames = enum.Names[Charge]{Type: "Charge", List: []string{"ByMode", "ToAll", "ToFirstViolated"}}
	modeNames   = enum.Names[Mode]{Type: "Mode", List: []string{"Design", "InPlace"}}
	orderNames  = enum.Names[Order]{Type: "Order", List: []string{"FirstFit", "BestFit", "RoundRobin"}}
	policyNames = enum.Names[PreemptionPolicy]{Type: "PreemptionPolicy", List: []string{"PreemptLowerPriority", "Never"}}
	reachNames  = enum.Names[Reach]{Type: "Reach", List: []string{"SameNode", "Cluster"}}
	reasonNames = enum.Names[Reason]{Type: "Reason", First: 1, List: []string{"PolicyNever", "NoVictims", "NoRoom", "Budgets"}}
	ruleNames   = enum.Names[Rule]{Type: "Rule", First: 1,
		List: []string{"Priority", "GuaranteedRuntime", "Guarded", "Terminating", "Budget"}}
)

func (b BudgetMode) String() string                   { return budgetNames.String(b) }
func (b BudgetMode) MarshalText() ([]byte, error)     { return budgetNames.Marshal(b) }
func (b *BudgetMode) UnmarshalText(text []byte) error { return budgetNames.Unmarshal(text, b) }

func (c Charge) String() string                   { return chargeNames.String(c) }
func (c Charge) MarshalText() ([]byte, error)     { return chargeNames.Marshal(c) }
func (c *Charge) UnmarshalText(text []byte) error { return chargeNames.Unmarshal(text, c) }

func (m Mode) String() string                   { return modeNames.String(m) }
func (m Mode) MarshalText() ([]byte, error)     { return modeNames.Marshal(m) }
func (m *Mode) UnmarshalText(text []byte) error { return modeNames.Unmarshal(text, m) }

func (o Order) String() string                   { return orderNames.String(o) }
func (o Order) MarshalText() ([]byte, error)     { return orderNames.Marshal(o) }
func (o *Order) UnmarshalText(text []byte) error { return orderNames.Unmarshal(text, o) }

func (p PreemptionPolicy) String() string                   { return policyNames.String(p) }
func (p PreemptionPolicy) MarshalText() ([]byte, error)     { return policyNames.Marshal(p) }
func (p *PreemptionPolicy) UnmarshalText(text []byte) error { return policyNames.Unmarshal(text, p) }

func (r Reach) String() string                   { return reachNames.String(r) }
func (r Reach) MarshalText() ([]byte, error)     { return reachNames.Marshal(r) }
func (r *Reach) UnmarshalText(text []byte) error { return reachNames.Unmarshal(text, r) }

func (r Reason) String() string                   { return reasonNames.String(r) }
func (r Reason) MarshalText() ([]byte, error)     { return reasonNames.Marshal(r) }
func (r *Reason) UnmarshalText(text []byte) error { return reasonNames.Unmarshal(text, r) }

func (r Rule) String() string                   { return ruleNames.String(r) }
func (r Rule) MarshalText() ([]byte, error)     { return ruleNames.Marshal(r) }
func (r *Rule) UnmarshalText(text []byte) error { return ruleNames.Unmarshal(text, r) }
