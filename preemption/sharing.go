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
	// borrowWithinCohort is not read. It is fair sharing as Kueue has it by default: a preemptor that
	// stays within its nominal quota in the columns that need preemption needs no strategy, whatever
	// it borrows in others; and a victim is put back although only without it is the preemptor's share
	// small enough to preempt the others. So workloads may take each other's room in a circle while
	// time stands still: A preempts B, and B, asked again, preempts A. Package preemption/loops finds
	// circles. For a cause in both ways of sharing see [queue.PreemptionPolicy].
	Fair
	// Reevaluated is Fair with Kueue's gate FairSharingReevaluatePreemptionCandidates. It runs the
	// first strategy once more over the candidates that it has refused, if it did not free enough and
	// took a workload of the preemptor's own queue, before the second strategy: without its own
	// victims the preemptor's share is smaller. Whether it stays within its nominal quota is decided
	// anew, so that the refused may go as InCohortReclamation, without a strategy; so goes a workload
	// of which a strategy took replicas before. Whom the second run takes makes a share smaller, too:
	// then the second strategy may miss a workload that would have made room. The search must be
	// [Greedy]: others judge by the shares of all victims.
	Reevaluated
	// Stable is Fair without circles, but those by rules: while time stands still, every run of
	// decisions in which victims leave at once and ask again comes to rest. docs/stability.md
	// has the proof. A victim that is not needed for the fit stays one if without it another victim
	// would be preempted against the strategies.
	//
	// In each queue look at the workloads by effective priority, at equal priority the
	// earlier queue-order timestamp first, then those that run before the preemptor, then by UID,
	// then by ID. A workload is a borrower if it exceeds the nominal quota of the queue, in any column that it uses, after the earlier
	// workloads that are no borrowers. What the queue reserves (queue.Queue.Reserved) does not
	// count. Replicas that were told to leave are a workload of their own that is being evicted, after what stays of theirs. Then:
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
	Stable
	// KAI: by fair shares, as KAI-Scheduler has them ([State.FairShares]), without which a decision fails. A queue that
	// would stay within its fair share with the request reclaims what others hold over what they may keep:
	// package fairshare has the rules. If that finds no victims, workloads of lower priority in its own queue yield. Victims
	// come in KAI's order: of siblings first those over their shares, then those over their quotas, lower queue
	// priority, the largest part of what is allocatable without the victims; of a queue's workloads lower priority, surplus
	// before the rest, later creation. A workload that never yields must be within the quotas of its queue and of
	// all above, also if it needs no victims. Beside that the quota tree says what there is: its limits hold,
	// and shares guarantee no room. Policies should be those of [QueuesOf]. The search must be [Greedy].
	//
	// A set whose victims may yield in another order only is looked for, too, with at most 5,000 looks at quota and room.
	//
	// KAI takes more than it needs at times, as it puts nothing back. Here the victims that are not needed are put back, if
	// the others may yield without them.
	KAI
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

// validateSharing adds what is wrong with the sharing.
func (c *Config) validateSharing(faults *fault.List) {
	if !sharingNames.Valid(c.Sharing) {
		faults.Add("config.Sharing", "%v is unknown", c.Sharing)
	}
	if (c.Sharing == Classical || c.Sharing == KAI) && len(c.Strategies) > 0 {
		faults.Add("config.Strategies", "is set, but Sharing is %v", c.Sharing)
	}
	if c.Sharing == Stable && c.Compat.Kueue016 {
		faults.Add("config.Compat.Kueue016", "is set, but Sharing is Stable")
	}
	both := []FairStrategy{LessThanOrEqualToFinalShare, LessThanInitialShare}
	switch {
	case len(c.Strategies) == 0, slices.Equal(c.Strategies, both), slices.Equal(c.Strategies, both[:1]), slices.Equal(c.Strategies, both[1:]):
	default:
		faults.Add("config.Strategies", "%v: want one of the two, or LessThanOrEqualToFinalShare before LessThanInitialShare", c.Strategies)
	}
}

// fairness returns the configuration in the form of the search.
func (c *Config) fairness() right.Fairness {
	if c.Sharing == Classical || c.Sharing == KAI {
		return right.Fairness{}
	}
	f := right.Fairness{
		First: right.FinalShare, Second: right.InitialShare, EntitlesNominal: !c.Compat.Kueue016,
		Recheck: c.Sharing == Stable || c.Search != Greedy, Stable: c.Sharing == Stable, Reevaluate: c.Sharing == Reevaluated,
	}
	if len(c.Strategies) == 1 {
		f.First, f.Second = right.Strategy(c.Strategies[0]), 0
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
