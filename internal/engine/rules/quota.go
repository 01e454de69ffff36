package rules

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// shares are the shares of nodes, with the request counted. They are good until somebody is taken
// or put back under the node.
type shares struct {
	known []knownShare // by node
	epoch uint64
}

type knownShare struct {
	quota.Share
	epoch uint64
}

// change says that anybody may have been taken or put back.
func (c *shares) change() { c.epoch++ }

// moved says that somebody of a queue alone was taken or put back.
func (t *Taker) moved(s *search.Search, queue int) {
	tree, common := s.View.Tree, lowestAbove(s.Cluster, queue, s.Request.Queue)
	for n := queue; n >= 0; n = tree.Parent(n) {
		if n < len(t.shares.known) {
			t.shares.known[n].epoch = 0
		}
	}
	if queue == s.Request.Queue || common >= 0 && tree.Parent(common) >= 0 {
		t.capacity.epoch = 0 // below the root somebody of the preemptor's side is gone, or there again
	}
}

// of returns the share of a node of the preemptor's tree.
func (c *shares) of(s *search.Search, node int) quota.Share {
	if n := s.View.Tree.Len(); n > len(c.known) {
		c.known = make([]knownShare, n)
	}
	known := &c.known[node]
	if known.epoch == c.epoch {
		return known.Share
	}
	known.Share, known.epoch = s.Share(node), c.epoch
	return known.Share
}

// quotaOfQueue returns the constraints on quota that hold for all candidates of a queue alike: v is one,
// or only the queue. mayFinal: the one on the final share holds for those that leave enough.
func (t *Taker) quotaOfQueue(s *search.Search, v *right.Victim) (set rules.QuotaSet, mayFinal bool) {
	if v.Cohort < 0 {
		return 0, false // the own queue, or in another tree
	}
	if s.NotGiving(v.Queue, v.Cohort) >= 0 {
		return 0, false
	}
	set = set.With(rules.Borrowing)
	if t.hasCapacity(s, v.Cohort) {
		set = set.With(rules.BorrowingCapacityFromPreemptor)
	}
	if !s.Request.Rules.OfShares {
		return set, false
	}
	order := t.ours(s, v).Compare(t.shares.of(s, v.Side))
	if order < 0 {
		set = set.With(rules.DRSLessThanInitialShare)
	}
	return set, order <= 0 // a share only falls when somebody leaves
}

// ours returns the share of the preemptor's side.
func (t *Taker) ours(s *search.Search, v *right.Victim) quota.Share {
	return t.shares.of(s, s.Below(v.Cohort, s.Request.Queue))
}

// quotaOf returns the constraints on quota that hold for a candidate, which runs, beside victims.
func (t *Taker) quotaOf(s *search.Search, v *right.Victim, beside []right.Victim) (set rules.QuotaSet) {
	set, mayFinal := t.quotaOfQueue(s, v)
	if !mayFinal {
		return set
	}
	if t.ours(s, v).Compare(t.finalShare(s, v, beside)) <= 0 {
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
