package preemption

import (
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/quota"
)

// Sharing says how the quota of a cohort is shared among those who borrow. The zero value is
// Classical.
type Sharing uint8

const (
	// Classical: the policies decide who is reclaimed, in the order of candidates.
	Classical Sharing = iota
	// Fair: who borrows the largest share yields first, as long as the shares permit it.
	// borrowWithinCohort is not read.
	Fair
)

// FairStrategy is a test that a victim in another queue must pass. It compares the shares of
// two children of the lowest cohort above both queues: the child above the preemptor, with
// the request counted in, and the child above the victim. The zero value is invalid.
type FairStrategy uint8

const (
	// LessThanOrEqualToFinalShare: the preemptor's share is at most the share of the victim's
	// side without the victim.
	LessThanOrEqualToFinalShare FairStrategy = 1 + iota
	// LessThanInitialShare: the preemptor's share is less than the share of the victim's side
	// with the victim.
	LessThanInitialShare
)

// FairSharing configures fair sharing. The zero value is Kueue's default.
//
// By default workloads may take each other's room in a circle while time stands still: A
// preempts B, and B, asked again, preempts A. Fair sharing itself has two known causes; for a
// cause in both ways of sharing see [queue.PreemptionPolicy].
//
//  1. Entitlement is judged only on what needs preemption. A workload that stays within
//     its nominal quota there, but borrows something else, preempts without a strategy.
//     Its victim got in by a strategy, and preempts it in turn.
//     IgnoreNominalEntitlement removes this cause.
//  2. A victim is put back although only without it is the preemptor's share small
//     enough to preempt the other victims. RecheckShares removes this cause.
//
// Each option leaves the other cause. Of 21,201 small random clusters in which a workload preempts
// 17 ended in a circle, of 13,433 that are made for it 190; with RecheckShares 15 and 190, with
// IgnoreNominalEntitlement 11 and 170, with both 9 and 170. Stable excludes circles altogether
// (docs/stability.md), and package preemption/loops finds them.
type FairSharing struct {
	// Strategies is one or both, LessThanOrEqualToFinalShare first. The second is tried, once
	// for each queue, on candidates that fail the first, if the first does not free enough.
	// Empty is both. Other lists are errors.
	Strategies []FairStrategy
	// IgnoreNominalEntitlement applies the strategies also to a preemptor that stays within
	// its nominal quota. By default such a preemptor preempts from the largest share without
	// a strategy; "within its nominal quota" then means in the columns that need preemption,
	// whatever it borrows in others.
	IgnoreNominalEntitlement bool
	// RecheckShares keeps a victim that is not needed for the fit if without it another
	// victim would be preempted against the strategies. Kueue puts it back, and then a workload
	// yields to a preemptor with the larger share.
	RecheckShares bool
	// ReevaluateCandidates runs the first strategy once more over the candidates that it has
	// refused, if it did not free enough and took a workload of the preemptor's own queue, before
	// the second strategy: without its own victims the preemptor's share is smaller. Whether it
	// stays within its nominal quota is decided anew, so that the refused may go as
	// InCohortReclamation, without a strategy; so goes a workload of which a strategy took
	// replicas before (Kueue's gate
	// FairSharingReevaluatePreemptionCandidates). Whom the second run takes makes a share smaller,
	// too: then the second strategy may miss a workload that would have made room. It must not be set with Stable, which
	// compares the refused again as long as that helps, nor with RecheckShares or another
	// search than [Greedy], which judge by the shares of all victims.
	ReevaluateCandidates bool
	// Stable excludes circles, but those by rules: while time stands still, every run of
	// decisions in which victims leave at once and ask again comes to rest. docs/stability.md
	// has the proof. It
	// includes RecheckShares; IgnoreNominalEntitlement and RecheckShares must not be set.
	//
	// In each queue look at the workloads by effective priority, at equal priority the
	// earlier queue-order timestamp first, then by UID, then by ID. A workload is a borrower if it
	// exceeds the nominal quota of the queue, in any column that it uses, after the earlier
	// workloads that are no borrowers. What the queue reserves (queue.Queue.Reserved) does not
	// count. Then:
	//
	//   1. A preemptor that would not be a borrower preempts borrowers, and others of lower
	//      priority or of equal priority and a later timestamp.
	//   2. One that would be preempts only borrowers: of lower priority; and of equal
	//      priority, if the shares of the queues permit it when only workloads of at least
	//      this priority count. Its queue's share is then at most that of the victim's queue
	//      without the victims, and larger than it was.
	//   3. A workload whose time is over, or that is being evicted, yields as ever.
	//
	// The strategies decide besides. A preemptor is entitled to its nominal quota if it stays
	// within it in each column of which its cohort tree has a quota, and in each that it asks
	// for, not only in what needs preemption. When victims have left on the
	// preemptor's side, candidates that were refused before are compared again.
	//
	// In a cohort tree in which no queue has reclaimWithinCohort Any points 1 and 2 are not
	// needed and refuse no victim.
	Stable bool
}

func (f *FairSharing) validate(faults *fault.List, sharing Sharing) {
	if sharing > Fair {
		faults.Add("config.Sharing", "%d is unknown", sharing)
	}
	if sharing != Fair && (len(f.Strategies) > 0 || f.IgnoreNominalEntitlement || f.RecheckShares || f.ReevaluateCandidates || f.Stable) {
		faults.Add("config.Fair", "is set, but Sharing is not Fair")
	}
	if f.Stable && f.IgnoreNominalEntitlement {
		faults.Add("config.Fair.IgnoreNominalEntitlement", "is set with Stable")
	}
	if f.Stable && f.RecheckShares {
		faults.Add("config.Fair.RecheckShares", "is set with Stable, which includes it")
	}
	if f.ReevaluateCandidates && (f.Stable || f.RecheckShares) {
		faults.Add("config.Fair.ReevaluateCandidates", "is set with Stable or RecheckShares")
	}
	both := []FairStrategy{LessThanOrEqualToFinalShare, LessThanInitialShare}
	switch {
	case len(f.Strategies) == 0, slices.Equal(f.Strategies, both), slices.Equal(f.Strategies, both[:1]), slices.Equal(f.Strategies, both[1:]):
	default:
		faults.Add("config.Fair.Strategies", "%v: want one of the two, or LessThanOrEqualToFinalShare before LessThanInitialShare", f.Strategies)
	}
}

// fairness returns the configuration in the form of the search.
func (c *Config) fairness() right.Fairness {
	if c.Sharing != Fair {
		return right.Fairness{}
	}
	f := right.Fairness{
		First: right.FinalShare, Second: right.InitialShare,
		EntitlesNominal: !c.Fair.IgnoreNominalEntitlement, Recheck: c.Fair.RecheckShares || c.Fair.Stable, Stable: c.Fair.Stable, Reevaluate: c.Fair.ReevaluateCandidates,
	}
	if len(c.Fair.Strategies) == 1 {
		f.First, f.Second = right.Strategy(c.Fair.Strategies[0]), 0
	}
	return f
}

// Share says how much a queue or cohort borrows, in the form in which shares are compared.
// The zero value borrows nothing.
type Share struct {
	quota.Share
	// DominantResource is the resource of which the node borrows most, divided by what its
	// cohort could lend; of equal ones the first by name. Empty if it borrows nothing that
	// can be lent.
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
