package queue

import "github.com/cedesched/cede/internal/base/enum"

// The texts of constants. String returns the text, as JSON has it: the name of the constant, without the prefix of its
// type where it has one. MarshalText fails on an invalid value, UnmarshalText on any other text.

var (
	fungibilityNames = enum.Names[FungibilityPolicy]{Type: "FungibilityPolicy", List: []string{"", "MayStopSearch", "TryNextFlavor"}}
	preferenceNames  = enum.Names[FlavorPreference]{Type: "FlavorPreference", List: []string{
		"BorrowingOverPreemption", "PreemptionOverBorrowing",
	}, EmptyIsZero: true}
	activityNames = enum.Names[Activity]{Type: "Activity", First: 1, List: []string{"Active", "Inadmissible", "Away"}}
	policyNames   = enum.Names[VictimPolicy]{Type: "VictimPolicy", List: []string{
		"Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any",
	}, EmptyIsZero: true}
	reasonNames = enum.Names[RequeueReason]{Type: "RequeueReason", First: 1, List: []string{
		"FailedAfterNomination", "PendingPreemption", "Gated", "NoFit", "NoCandidates", "Invalid", "Borrows",
	}}
	strategyNames = enum.Names[Strategy]{Type: "Strategy", List: []string{"BestEffortFIFO", "StrictFIFO"}, EmptyIsZero: true}
)

func (p FungibilityPolicy) String() string               { return fungibilityNames.String(p) }
func (p FungibilityPolicy) MarshalText() ([]byte, error) { return fungibilityNames.Marshal(p) }
func (p *FungibilityPolicy) UnmarshalText(text []byte) error {
	return fungibilityNames.Unmarshal(text, p)
}

func (p FlavorPreference) String() string               { return preferenceNames.String(p) }
func (p FlavorPreference) MarshalText() ([]byte, error) { return preferenceNames.Marshal(p) }
func (p *FlavorPreference) UnmarshalText(text []byte) error {
	return preferenceNames.Unmarshal(text, p)
}

func (a Activity) String() string                   { return activityNames.String(a) }
func (a Activity) MarshalText() ([]byte, error)     { return activityNames.Marshal(a) }
func (a *Activity) UnmarshalText(text []byte) error { return activityNames.Unmarshal(text, a) }

func (p VictimPolicy) String() string                   { return policyNames.String(p) }
func (p VictimPolicy) MarshalText() ([]byte, error)     { return policyNames.Marshal(p) }
func (p *VictimPolicy) UnmarshalText(text []byte) error { return policyNames.Unmarshal(text, p) }

func (r RequeueReason) String() string                   { return reasonNames.String(r) }
func (r RequeueReason) MarshalText() ([]byte, error)     { return reasonNames.Marshal(r) }
func (r *RequeueReason) UnmarshalText(text []byte) error { return reasonNames.Unmarshal(text, r) }

func (s Strategy) String() string                   { return strategyNames.String(s) }
func (s Strategy) MarshalText() ([]byte, error)     { return strategyNames.Marshal(s) }
func (s *Strategy) UnmarshalText(text []byte) error { return strategyNames.Unmarshal(text, s) }
