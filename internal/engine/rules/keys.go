package rules

import (
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/queue/rules"
)

// value is the value of a key; one of the two is zero, except for a share.
type value struct {
	whole int64
	part  float64
}

func (v value) compare(w value) int {
	switch {
	case v == w:
		return 0
	case v.whole < w.whole || v.whole == w.whole && v.part < w.part:
		return -1
	}
	return 1
}

// compareKeys compares two candidates by their keys, with those of shares or without.
func (o *walk) compareKeys(a, b *candidate, shares bool) int {
	for i, key := range o.by {
		if !shares && key.Key.OfShares() {
			continue
		}
		x, y := o.keys[a.at+i], o.keys[b.at+i]
		if key.Direction == rules.Descending {
			x, y = y, x
		}
		if order := x.compare(y); order != 0 {
			return order
		}
	}
	return 0
}

// key returns the value of a key of a candidate now.
func (o *walk) key(c *candidate, key rules.OrderingKey) (v value) {
	s, d := o.s, &c.donor
	switch key {
	case rules.ByPriority:
		v.whole = c.Priority
	case rules.ByAdmission:
		v.whole = int64(instant.Rank(c.Reserved) ^ 1<<63)
	case rules.ByLocalQueue:
		v.part = s.Request.LocalQueueUsage[c.Facts.LocalQueue()]
	case rules.ByCost:
		if s.Request.Better.Cost != nil {
			v.whole = s.Request.Better.Cost(c.Workload, -1)
		}
	case rules.ByOtherQueue:
		v.whole = oneIf(d.node != s.Request.Queue)
	case rules.ByOtherCohort:
		parent := s.Cluster.Tree.Parent(d.node)
		v.whole = oneIf(d.node != s.Request.Queue && (parent < 0 || parent != s.Cluster.Tree.Parent(s.Request.Queue)))
	case rules.ByQueueShare: // as [quota.Share.Compare] orders them
		if d.node != s.Request.Queue && d.common < 0 {
			break // in another tree
		}
		of := o.t.shareOf(s, d.node)
		if v.part = of.Weighted(); of.Weight == 0 && of.Ratio > 0 {
			v = value{1, of.Ratio}
		}
	case rules.ByInitialShare:
		set, _ := o.t.quotaOfDonor(s, d.node, d.common, d.side)
		v.whole = oneIf(set.Meets(rules.DRSLessThanInitialShare))
	case rules.ByFinalShare:
		of := d.victim(c.Workload)
		v.whole = oneIf(o.t.quotaOf(s, &of, s.Taken).Meets(rules.DRSLessThanOrEqualToFinalShare))
	}
	return v
}

func oneIf(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// usable appends an order to an empty list, without what is wrong with it: the configuration may have
// unknown keys, and some twice.
func usable(by, list []rules.Ordering) []rules.Ordering {
	for _, o := range list {
		if slices.Contains(rules.OrderingKeys(), o.Key) && !slices.ContainsFunc(by, func(b rules.Ordering) bool { return b.Key == o.Key }) {
			by = append(by, o)
		}
	}
	return by
}
