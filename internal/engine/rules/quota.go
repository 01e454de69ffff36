package rules

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// Which constraints on quota hold for a candidate (KEP-13396, quota constraints).

// shares are the shares of nodes, with the request counted, and the depth of capacity. They are good until
// a victim is taken or put back.
type shares struct {
	known []knownShare // by node
	epoch uint64
	// depth says for which cohorts BorrowingCapacityFromPreemptor holds: those above both queues that have at
	// most this depth; -1: for none. It is known if depthEpoch is epoch.
	depth      int
	depthEpoch uint64
}

type knownShare struct {
	quota.Share
	epoch uint64
}

// change says that any victims may have been taken or put back.
func (c *shares) change() { c.epoch++ }

// shareOf returns the share of a node of the preemptor's tree.
func (t *Taker) shareOf(s *search.Search, node int) quota.Share {
	c := &t.shares
	if n := s.View.Tree.Len(); n > len(c.known) {
		c.known = make([]knownShare, n)
	}
	known := &c.known[node]
	if known.epoch != c.epoch {
		known.Share, known.epoch = s.Share(node), c.epoch
	}
	return known.Share
}

// quotaOfDonor returns the constraints on quota that hold for all candidates of a queue alike. mayFinal: the
// one on the final share holds for the candidates that free enough.
func (t *Taker) quotaOfDonor(s *search.Search, node, common, side int) (set selectors.QuotaSet, mayFinal bool) {
	if common < 0 {
		return 0, false // the own queue, or in another tree
	}
	if s.NotGiving(node, common) >= 0 {
		return 0, false
	}
	set = set.With(rules.Borrowing)
	if t.hasCapacity(s, common) {
		set = set.With(rules.BorrowingCapacityFromPreemptor)
	}
	if !s.Request.Rules.OfShares {
		return set, false
	}
	order := t.ours(s, common).Compare(t.shareOf(s, side))
	if order < 0 {
		set = set.With(rules.DRSLessThanInitialShare)
	}
	return set, order <= 0 // a share only falls when a workload leaves
}

// ours returns the share of the preemptor's side.
func (t *Taker) ours(s *search.Search, common int) quota.Share {
	return t.shareOf(s, s.Below(common, s.Request.Queue))
}

// quotaOf returns the constraints on quota that hold for a candidate, which runs, beside victims.
func (t *Taker) quotaOf(s *search.Search, v *right.Victim, beside []right.Victim) (set selectors.QuotaSet) {
	set, mayFinal := t.quotaOfDonor(s, v.Queue, v.Cohort, v.Side)
	if !mayFinal {
		return set
	}
	if t.ours(s, v.Cohort).Compare(t.finalShare(s, v, beside)) <= 0 {
		set = set.With(rules.DRSLessThanOrEqualToFinalShare)
	}
	return set
}

// finalShare returns the share of a candidate's side without the candidate.
func (t *Taker) finalShare(s *search.Search, v *right.Victim, beside []right.Victim) (of quota.Share) {
	if !v.Workload.Divides() {
		return s.View.ShareWithout(v.Side, v.Queue, v.Workload.Loads)
	}
	s.MoveQuota(v, -1, beside)
	of = s.View.Share(v.Side)
	s.MoveQuota(v, 1, beside)
	return of
}

// hasCapacity reports whether BorrowingCapacityFromPreemptor holds below a cohort of the preemptor's: the
// request fits in the quota of a nearer node. If it does below a nearer cohort, it does below a farther one.
func (t *Taker) hasCapacity(s *search.Search, cohort int) bool {
	c := &t.shares
	if c.depthEpoch != c.epoch {
		c.depth, c.depthEpoch = -1, c.epoch
		for n := s.View.Tree.Parent(s.Request.Queue); n >= 0; n = s.View.Tree.Parent(n) {
			if s.Advantage(n) {
				c.depth = s.View.Tree.Depth(n)
				break
			}
		}
	}
	return s.View.Tree.Depth(cohort) <= c.depth
}

// helps reports whether a victim is on the preemptor's side of a common cohort.
func helps(s *search.Search, v *right.Victim, common int) bool {
	depth := s.Cluster.Tree.Depth
	return common >= 0 && (v.Queue == s.Request.Queue || v.Cohort >= 0 && depth(v.Cohort) > depth(common))
}
