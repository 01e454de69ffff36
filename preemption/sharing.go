package preemption

import (
	"slices"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/quota"
)

// Sharing is how the quota of a cohort is shared out among those who borrow.
type Sharing uint8

const (
	// Classical: who reclaims goes by the policies, in the order of candidates.
	Classical Sharing = iota
	// Fair: who borrows the largest share yields first, and only as long as the shares
	// allow it. borrowWithinCohort has no part in it.
	Fair
)

// FairStrategy is a test that a victim in another queue must pass. It compares the
// shares of two children of the lowest cohort that holds both queues: the one with the
// preemptor, the request counted in, and the one with the victim. The zero value is
// invalid.
type FairStrategy uint8

const (
	// LessThanOrEqualToFinalShare: the preemptor's share is at most that of the
	// victim's side without the victim.
	LessThanOrEqualToFinalShare FairStrategy = 1 + iota
	// LessThanInitialShare: the preemptor's share is less than that of the victim's
	// side with the victim.
	LessThanInitialShare
)

// FairSharing is the details of fair sharing. The zero value is what Kueue does by
// default.
//
// By default workloads may take each other's room in a circle, time standing still: A
// takes from B, and B, asked again, from A. Two causes are known of fair sharing itself;
// for one that it has in common with classical sharing see [queue.PreemptionPolicy].
//
//  1. Entitlement is judged on what needs preemption alone. A workload that stays within
//     its nominal quota of that, and borrows something else, takes without a strategy from
//     one that was let in by a strategy, and is taken from by it in turn.
//     IgnoreNominalEntitlement closes this.
//  2. Fill-back gives back a victim although only without it the preemptor's share is
//     small enough to take the others. RecheckShares closes this.
//
// Either alone leaves the other cause open.
type FairSharing struct {
	// Strategies is either or both, LessThanOrEqualToFinalShare first; the second is
	// tried on those that fail the first, once a queue, when the first does not free
	// enough. Empty is both. Other lists are errors.
	Strategies []FairStrategy
	// IgnoreNominalEntitlement makes a preemptor that stays within its nominal quota
	// pass the strategies too. By default it takes from whoever has the largest share,
	// where within its nominal quota is said of what needs preemption, whatever it
	// borrows besides.
	IgnoreNominalEntitlement bool
	// RecheckShares keeps a victim that fill-back would put back, where without it
	// another one would be taken against the strategies. Kueue puts it back, and then
	// somebody yields to a preemptor with the larger share.
	RecheckShares bool
}

func (f *FairSharing) validate(faults *fault.List, sharing Sharing) {
	if sharing > Fair {
		faults.Add("config.Sharing", "%d is unknown", sharing)
	}
	if sharing != Fair && (len(f.Strategies) > 0 || f.IgnoreNominalEntitlement || f.RecheckShares) {
		faults.Add("config.Fair", "is set, but Sharing is not Fair")
	}
	both := []FairStrategy{LessThanOrEqualToFinalShare, LessThanInitialShare}
	switch {
	case len(f.Strategies) == 0, slices.Equal(f.Strategies, both), slices.Equal(f.Strategies, both[:1]), slices.Equal(f.Strategies, both[1:]):
	default:
		faults.Add("config.Fair.Strategies", "%v: want one of the two, or LessThanOrEqualToFinalShare before LessThanInitialShare", f.Strategies)
	}
}

// fairness is the configuration in the form of the search.
func (c *Config) fairness() search.Fairness {
	if c.Sharing != Fair {
		return search.Fairness{}
	}
	f := search.Fairness{
		First: search.FinalShare, Second: search.InitialShare,
		EntitlesNominal: !c.Fair.IgnoreNominalEntitlement, Recheck: c.Fair.RecheckShares,
	}
	if len(c.Fair.Strategies) == 1 {
		f.First, f.Second = search.Strategy(c.Fair.Strategies[0]), 0
	}
	return f
}

var sharingNames = enum.Names[Sharing]{Type: "Sharing", List: []string{"Classical", "Fair"}}

// String returns the name of the constant.
func (s Sharing) String() string { return sharingNames.String(s) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (s Sharing) MarshalText() ([]byte, error) { return sharingNames.Marshal(s) }

// UnmarshalText reads a name. It fails on any other text.
func (s *Sharing) UnmarshalText(text []byte) error { return sharingNames.Unmarshal(text, s) }

var strategyNames = enum.Names[FairStrategy]{Type: "FairStrategy", First: 1, List: []string{"LessThanOrEqualToFinalShare", "LessThanInitialShare"}}

// String returns the name of the constant.
func (f FairStrategy) String() string { return strategyNames.String(f) }

// MarshalText writes the name. It fails on an invalid value.
func (f FairStrategy) MarshalText() ([]byte, error) { return strategyNames.Marshal(f) }

// UnmarshalText reads a name. It fails on any other text.
func (f *FairStrategy) UnmarshalText(text []byte) error { return strategyNames.Unmarshal(text, f) }

// Share is how much a queue or cohort borrows, in the form that shares are compared
// in. The zero value is of one that borrows nothing.
type Share struct {
	quota.Share
	// DominantResource is the resource of which it borrows most, as a part of what could be
	// lent: the first by name of equal ones. Empty where it borrows nothing of what can be
	// lent.
	DominantResource string
}

// QueueShare returns the share of a queue; ok is false for an unknown one.
func (s *Snapshot) QueueShare(name string) (share Share, ok bool) {
	c := s.inside()
	node, ok := c.QueueNode(name)
	if !ok {
		return Share{}, false
	}
	return shareOf(c, node), true
}

// CohortShare returns the share of a cohort; ok is false for an unknown one.
func (s *Snapshot) CohortShare(name string) (share Share, ok bool) {
	c := s.inside()
	node, ok := c.CohortNode(name)
	if !ok {
		return Share{}, false
	}
	return shareOf(c, node), true
}

func shareOf(c *cluster.Cluster, node int) Share {
	found := c.Usage.Share(node)
	s := Share{Share: found.Share}
	if found.Resource >= 0 {
		s.DominantResource = c.Resources[found.Resource]
	}
	return s
}
