package explain

import "github.com/cedesched/cede/internal/base/enum"

// The texts of constants. String returns the text, as JSON has it: the name of the constant, without the prefix of its
// type where it has one. MarshalText fails on an invalid value, UnmarshalText on any other text.

var (
	rightNames = enum.Names[Right]{Type: "Right", First: 1, List: []string{"OwnQueue", "Reclaim", "Borrow", "Shares"}}
	boundNames = enum.Names[Bound]{Type: "Bound", First: 1, List: []string{"Potential", "InReach", "InNeed", "InTree"}}
	wayNames   = enum.Names[WayKind]{Type: "WayKind", First: 1, List: []string{
		"Time", "Priority", "Replicas", "Flavor", "Nominal", "Policy", "Gates", "MayPreempt", "MinCount", "Capacity",
	}}
	policyNames = enum.Names[PolicyName]{Type: "PolicyName", First: 1, List: []string{
		"withinClusterQueue", "reclaimWithinCohort", "borrowWithinCohort",
	}}
)

func (r Right) String() string                   { return rightNames.String(r) }
func (r Right) MarshalText() ([]byte, error)     { return rightNames.Marshal(r) }
func (r *Right) UnmarshalText(text []byte) error { return rightNames.Unmarshal(text, r) }

func (b Bound) String() string                   { return boundNames.String(b) }
func (b Bound) MarshalText() ([]byte, error)     { return boundNames.Marshal(b) }
func (b *Bound) UnmarshalText(text []byte) error { return boundNames.Unmarshal(text, b) }

func (k WayKind) String() string                   { return wayNames.String(k) }
func (k WayKind) MarshalText() ([]byte, error)     { return wayNames.Marshal(k) }
func (k *WayKind) UnmarshalText(text []byte) error { return wayNames.Unmarshal(text, k) }

func (p PolicyName) String() string                   { return policyNames.String(p) }
func (p PolicyName) MarshalText() ([]byte, error)     { return policyNames.Marshal(p) }
func (p *PolicyName) UnmarshalText(text []byte) error { return policyNames.Unmarshal(text, p) }
