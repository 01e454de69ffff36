package rules

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/rules"
)

// keyed is a workload with its keys of an order.
type keyed struct {
	*cluster.Workload
	node  int
	whole [6]int64
	keys  [6]float64
}

// openOrdered begins a phase in an order of the configuration's own: all that are being evicted in
// the first, all others in the third.
func (o *order) openOrdered(s *search.Search, donors []int, phase int, by []rules.Ordering) {
	o.sorted, o.at = o.sorted[:0], 0
	if phases[phase].own {
		return
	}
	for _, node := range donors {
		for _, lane := range phases[phase].lanes {
			var cursor cluster.LaneCursor
			for cursor.First(*s.Cluster.Running(node).Lane(lane)); ; cursor.Next() {
				w, ok := cursor.Item()
				if !ok {
					break
				}
				k := keyed{Workload: w, node: node}
				for i, key := range by {
					k.whole[i], k.keys[i] = keyOf(s, w, node, key.Key)
				}
				o.sorted = append(o.sorted, k)
			}
		}
	}
	slices.SortFunc(o.sorted, func(a, b keyed) int {
		for i, key := range by {
			order := cmp.Or(cmp.Compare(a.whole[i], b.whole[i]), cmp.Compare(a.keys[i], b.keys[i]))
			if key.Direction == rules.Descending {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return cluster.CompareIDs(a.Workload, b.Workload)
	})
}

// keyOf returns the value of a key: one of the two, the other is zero.
func keyOf(s *search.Search, w *cluster.Workload, node int, key rules.OrderingKey) (whole int64, usage float64) {
	is := func(other bool) int64 {
		if other {
			return 1
		}
		return 0
	}
	switch key {
	case rules.ByPriority:
		return w.Priority, 0
	case rules.ByAdmission:
		return int64(instant.Rank(w.Reserved) ^ 1<<63), 0
	case rules.ByOtherQueue:
		return is(node != s.Request.Queue), 0
	case rules.ByOtherCohort:
		parent := s.Cluster.Tree.Parent(node)
		return is(node != s.Request.Queue && (parent < 0 || parent != s.Cluster.Tree.Parent(s.Request.Queue))), 0
	case rules.ByLocalQueue:
		return 0, s.Request.LocalQueueUsage[w.Facts.LocalQueue()]
	case rules.ByCost:
		if s.Request.Cost != nil {
			return s.Request.Cost(w, -1), 0
		}
	}
	return 0, 0
}

// usable returns an order without what is wrong with it: the configuration may have unknown keys, and
// some twice.
func usable(list []rules.Ordering) (by []rules.Ordering) {
	for _, o := range list {
		if slices.Contains(rules.OrderingKeys(), o.Key) && !slices.ContainsFunc(by, func(b rules.Ordering) bool { return b.Key == o.Key }) {
			by = append(by, o)
		}
	}
	return by
}
