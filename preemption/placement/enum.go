package placement

import "fmt"

// names are the texts of an enum; the name of value v is list[v-first].
type names struct {
	kind  string
	first uint8
	list  []string
}

var (
	modeNames       = names{"mode", 0, []string{"Design", "InPlace", "Replace"}}
	orderNames      = names{"placement", 0, []string{"FirstFit", "BestFit", "RoundRobin"}}
	budgetNames     = names{"budget rule", 0, []string{"Soft", "Hard"}}
	reachNames      = names{"reach", 0, []string{"SameNode", "Cluster"}}
	disruptionNames = names{"disruption mode", 0, []string{"Pod", "PodGroup"}}
	policyNames     = names{"preemption policy", 0, []string{"PreemptLowerPriority", "Never"}}
	outcomeNames    = names{"outcome", 1, []string{"Fits", "Preempt", "Wait", "Impossible"}}
	reasonNames     = names{"reason", 1, []string{"PolicyNever", "NoVictims", "NoRoom", "Budgets"}}
)

func (n *names) valid(v uint8) bool { return v >= n.first && int(v-n.first) < len(n.list) }

func (n *names) text(v uint8) string {
	if !n.valid(v) {
		return fmt.Sprintf("%s(%d)", n.kind, v)
	}
	return n.list[v-n.first]
}

func (n *names) marshal(v uint8) ([]byte, error) {
	if !n.valid(v) {
		return nil, fmt.Errorf("placement: %d is not a valid %s", v, n.kind)
	}
	return []byte(n.list[v-n.first]), nil
}

func (n *names) unmarshal(text []byte, into *uint8) error {
	for i, name := range n.list {
		if name == string(text) {
			*into = uint8(i) + n.first
			return nil
		}
	}
	return fmt.Errorf("placement: %q is not a valid %s: want one of %q", text, n.kind, n.list)
}

// String returns the name of the constant.
func (m Mode) String() string { return modeNames.text(uint8(m)) }

// String returns the name of the constant.
func (o Order) String() string { return orderNames.text(uint8(o)) }

// String returns the name of the constant.
func (b BudgetRule) String() string { return budgetNames.text(uint8(b)) }

// String returns the name of the constant.
func (r Reach) String() string { return reachNames.text(uint8(r)) }

// String returns the name as the KEP has it.
func (m DisruptionMode) String() string { return disruptionNames.text(uint8(m)) }

// MarshalText writes the name. It fails on an invalid value.
func (m DisruptionMode) MarshalText() ([]byte, error) { return disruptionNames.marshal(uint8(m)) }

// UnmarshalText reads a name. It fails on any other text.
func (m *DisruptionMode) UnmarshalText(text []byte) error {
	return disruptionNames.unmarshal(text, (*uint8)(m))
}

// String returns the name as Kubernetes has it.
func (p Policy) String() string { return policyNames.text(uint8(p)) }

// MarshalText writes the name. It fails on an invalid value.
func (p Policy) MarshalText() ([]byte, error) { return policyNames.marshal(uint8(p)) }

// UnmarshalText reads a name. It fails on any other text.
func (p *Policy) UnmarshalText(text []byte) error { return policyNames.unmarshal(text, (*uint8)(p)) }

// String returns the name of the constant.
func (o Outcome) String() string { return outcomeNames.text(uint8(o)) }

// MarshalText writes the name. It fails on an invalid value.
func (o Outcome) MarshalText() ([]byte, error) { return outcomeNames.marshal(uint8(o)) }

// UnmarshalText reads a name. It fails on any other text.
func (o *Outcome) UnmarshalText(text []byte) error { return outcomeNames.unmarshal(text, (*uint8)(o)) }

// String returns the name of the constant.
func (r Reason) String() string { return reasonNames.text(uint8(r)) }

// MarshalText writes the name. It fails on an invalid value.
func (r Reason) MarshalText() ([]byte, error) { return reasonNames.marshal(uint8(r)) }

// UnmarshalText reads a name. It fails on any other text.
func (r *Reason) UnmarshalText(text []byte) error { return reasonNames.unmarshal(text, (*uint8)(r)) }
