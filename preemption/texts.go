package preemption

import "github.com/cedesched/cede/internal/base/enum"

// The texts of constants. String returns the text, as JSON has it: the name of the constant, without the prefix of its
// type where it has one. MarshalText fails on an invalid value, UnmarshalText on any other text.

var (
	modeNames        = enum.Names[AssignmentMode]{Type: "AssignmentMode", First: 1, List: []string{"NoFit", "Preempt", "Fit"}}
	possibilityNames = enum.Names[Possibility]{Type: "Possibility", First: 1, List: []string{"NoCandidates", "Preempt", "Reclaim"}}
	skipReasonNames  = enum.Names[SkipReason]{Type: "SkipReason", First: 1, List: []string{
		"NoQuota", "ExceedsMaxQuota", "NotReclaimable", "NeverPreempts", "NoCandidates", "WouldPreempt", "WouldBorrow", "NotEligible",
	}}
	outcomeNames = enum.Names[Outcome]{Type: "Outcome", First: 1, List: []string{"Fits", "Preempt", "Gated", "Wait", "Impossible"}}
	reasonNames  = enum.Names[VictimReason]{Type: "VictimReason", First: 1, List: []string{
		"InClusterQueue", "InCohortReclamation", "InCohortReclaimWhileBorrowing", "InClusterQueueTimeBased",
		"InCohortFairSharing", "ConfigurablePreemption",
	}}
	ruleNames = enum.Names[Rule]{Type: "Rule", First: 1, List: []string{
		"WithinClusterQueue", "ReclaimWithinCohort", "WithinNominal", "BorrowWithinCohort", "GuaranteedRuntime",
		"Guarded", "FairShare", "NeverYields", "QueueInactive", "PreemptionLimitExceeded",
	}}
	topologyNames = enum.Names[TopologyMismatch]{Type: "TopologyMismatch", First: 1, List: []string{
		"NoTopology", "NoTopologyLevel", "OnlyTopology",
	}}
	sharingNames  = enum.Names[Sharing]{Type: "Sharing", List: []string{"Classical", "Fair", "Reevaluated", "Stable", "KAI"}}
	searchNames   = enum.Names[Search]{Type: "Search", List: []string{"Greedy", "Best"}}
	strategyNames = enum.Names[FairStrategy]{Type: "FairStrategy", First: 1, List: []string{
		"LessThanOrEqualToFinalShare", "LessThanInitialShare",
	}}
)

func (m AssignmentMode) String() string                   { return modeNames.String(m) }
func (m AssignmentMode) MarshalText() ([]byte, error)     { return modeNames.Marshal(m) }
func (m *AssignmentMode) UnmarshalText(text []byte) error { return modeNames.Unmarshal(text, m) }

func (p Possibility) String() string                   { return possibilityNames.String(p) }
func (p Possibility) MarshalText() ([]byte, error)     { return possibilityNames.Marshal(p) }
func (p *Possibility) UnmarshalText(text []byte) error { return possibilityNames.Unmarshal(text, p) }

func (s SkipReason) String() string                   { return skipReasonNames.String(s) }
func (s SkipReason) MarshalText() ([]byte, error)     { return skipReasonNames.Marshal(s) }
func (s *SkipReason) UnmarshalText(text []byte) error { return skipReasonNames.Unmarshal(text, s) }

func (o Outcome) String() string                   { return outcomeNames.String(o) }
func (o Outcome) MarshalText() ([]byte, error)     { return outcomeNames.Marshal(o) }
func (o *Outcome) UnmarshalText(text []byte) error { return outcomeNames.Unmarshal(text, o) }

func (r VictimReason) String() string                   { return reasonNames.String(r) }
func (r VictimReason) MarshalText() ([]byte, error)     { return reasonNames.Marshal(r) }
func (r *VictimReason) UnmarshalText(text []byte) error { return reasonNames.Unmarshal(text, r) }

func (r Rule) String() string                   { return ruleNames.String(r) }
func (r Rule) MarshalText() ([]byte, error)     { return ruleNames.Marshal(r) }
func (r *Rule) UnmarshalText(text []byte) error { return ruleNames.Unmarshal(text, r) }

func (m TopologyMismatch) String() string                   { return topologyNames.String(m) }
func (m TopologyMismatch) MarshalText() ([]byte, error)     { return topologyNames.Marshal(m) }
func (m *TopologyMismatch) UnmarshalText(text []byte) error { return topologyNames.Unmarshal(text, m) }

func (s Search) String() string                   { return searchNames.String(s) }
func (s Search) MarshalText() ([]byte, error)     { return searchNames.Marshal(s) }
func (s *Search) UnmarshalText(text []byte) error { return searchNames.Unmarshal(text, s) }

func (s Sharing) String() string                   { return sharingNames.String(s) }
func (s Sharing) MarshalText() ([]byte, error)     { return sharingNames.Marshal(s) }
func (s *Sharing) UnmarshalText(text []byte) error { return sharingNames.Unmarshal(text, s) }

func (f FairStrategy) String() string                   { return strategyNames.String(f) }
func (f FairStrategy) MarshalText() ([]byte, error)     { return strategyNames.Marshal(f) }
func (f *FairStrategy) UnmarshalText(text []byte) error { return strategyNames.Unmarshal(text, f) }
