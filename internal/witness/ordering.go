package witness

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/queue/rules"
)

// KEP-13396, future work: "ordering chooses the order of a tier".

// asToday: "Empty: IsOtherCQ descending, Priority ascending, AdmissionTimestamp descending, as today."
var asToday = []rules.Ordering{
	{Key: rules.ByOtherQueue, Direction: rules.Descending},
	{Key: rules.ByPriority, Direction: rules.Ascending},
	{Key: rules.ByAdmission, Direction: rules.Descending},
}

// first: "the first key first, after those that are being evicted; UID and ID come last." "Those of shares change while
// victims are taken: the next candidate is the first by the shares as they are then."
func (s *ruleSearch) first(list []*candidate) *candidate {
	keys := s.rules.Ordering
	if len(keys) == 0 {
		keys = asToday
	}
	return slices.MinFunc(list, func(a, b *candidate) int {
		order := cmp.Compare(number(!a.leaving), number(!b.leaving))
		for _, k := range keys {
			by := s.compareBy(k.Key, a, b)
			if k.Direction == rules.Descending {
				by = -by
			}
			order = cmp.Or(order, by)
		}
		return cmp.Or(order, compareNames(a, b))
	})
}

func (s *ruleSearch) compareBy(k rules.OrderingKey, a, b *candidate) int {
	constraint := map[rules.OrderingKey]rules.QuotaConstraint{
		rules.ByInitialShare: rules.DRSLessThanInitialShare, rules.ByFinalShare: rules.DRSLessThanOrEqualToFinalShare,
	}
	switch k {
	case rules.ByPriority:
		return comparePriority(a, b)
	case rules.ByAdmission: // "One that is not known is the latest."
		unknown := cmp.Compare(number(a.of.ReservedAt.IsZero()), number(b.of.ReservedAt.IsZero()))
		return cmp.Or(unknown, a.of.ReservedAt.Compare(b.of.ReservedAt))
	case rules.ByLocalQueue:
		return cmp.Compare(localUsage(s.world, a.of.LocalQueue), localUsage(s.world, b.of.LocalQueue))
	case rules.ByQueueShare:
		return s.queueShare(a).compare(s.queueShare(b))
	case rules.ByInitialShare, rules.ByFinalShare: // "1 if the constraint holds, else 0"
		return cmp.Compare(number(s.constraintHolds(constraint[k], a)), number(s.constraintHolds(constraint[k], b)))
	case rules.ByCost:
		return cmp.Compare(s.cost(a), s.cost(b))
	}
	return cmp.Compare(s.distance(k, a), s.distance(k, b))
}

// distance: IsOtherCQ is "0 in the preemptor's queue, 1 in others"; IsOtherCohort is "0 if the queue is a member of the
// cohort of the preemptor's queue, or is that queue; else 1".
func (s *ruleSearch) distance(k rules.OrderingKey, c *candidate) int {
	other := c.of.home != s.own
	if k == rules.ByOtherCohort && s.own.parent != nil && c.of.home.parent == s.own.parent {
		other = false
	}
	return number(other)
}

// queueShare: "the dominant share of the candidate's queue, over its weight, without those taken before; that of the
// preemptor's queue is with the request. A queue of another tree has 0."
func (s *ruleSearch) queueShare(c *candidate) share {
	if c.meet == nil {
		return share{weight: 1}
	}
	s.own.asking = s.asked
	defer func() { s.own.asking = nil }()
	return s.share(c.of.home)
}

// cost is "what the candidate loses, as Config.Cost says; 0 without it".
func (s *ruleSearch) cost(c *candidate) int64 {
	if s.config.Cost == nil || c.leaving {
		return 0
	}
	return s.config.Cost.Lost(c.of.Workload, "", s.at)
}
