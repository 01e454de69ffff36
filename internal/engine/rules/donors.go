package rules

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/rules"
)

// donor is a queue in which a tier may accept somebody.
type donor struct {
	node int
	rules.Reach
}

// collect appends the donors of a tier to an empty list, by node; byHeads: without those that only heads of
// cohorts have to find.
func (t *tier) collect(s *search.Search, list []donor, byHeads bool) []donor {
	own := s.Cluster.Queue(s.Request.Queue).Name
	if elsewhere := t.rules.Elsewhere(); !elsewhere.Any || byHeads {
		list = add(s, list, s.Request.Queue, t.rules.Reach(own))
	} else {
		for q := range s.Cluster.Queues {
			node := len(s.Cluster.Cohorts) + q
			if node == s.Request.Queue || elsewhere.Free || !s.View.WithinNominalAtFirst(node, s.Needs) {
				list = add(s, list, node, t.rules.Reach(s.Cluster.Queues[q].Name))
			}
		}
	}
	before := len(list)
	eachByTraits(s, t.rules, func(node int, r rules.Reach) {
		list = add(s, list, node, r)
	})
	if len(list) > before {
		list = united(list)
	}
	return list
}

// all returns all donors of a tier whose rules are known.
func (t *tier) all(s *search.Search) []donor {
	if !t.byHeads {
		return t.donors
	}
	if !t.listed {
		t.listed, t.list = true, t.collect(s, t.list[:0], false)
	}
	return t.list
}

// add adds a queue if some selector may accept somebody there, with nobody gone.
func add(s *search.Search, list []donor, node int, r rules.Reach) []donor {
	if s.Cluster.Queue(node).Inactive {
		return list
	}
	if r.Free || r.Any && node != s.Request.Queue && !s.View.WithinNominalAtFirst(node, s.Needs) {
		list = append(list, donor{node, r})
	}
	return list
}

// eachByTraits calls yield with the queues in which somebody has a trait that selectors of a tier ask for, and
// whom these may accept there. A queue may come several times.
func eachByTraits(s *search.Search, by *rules.Tier, yield func(node int, r rules.Reach)) {
	for trait, ok := by.NextTrait(0); ok; {
		has, any := s.Cluster.NextTrait(trait)
		if !any {
			break
		}
		if has == trait {
			s.Cluster.EachQueueWith(trait, func(node int) { yield(node, by.ReachOf(trait, s.Cluster.Queue(node).Name)) })
			has++
		}
		trait, ok = by.NextTrait(has)
	}
}

// united sorts donors by node and makes one of those of the same queue.
func united(list []donor) []donor {
	slices.SortFunc(list, func(a, b donor) int { return cmp.Compare(a.node, b.node) })
	out := list[:0]
	for _, d := range list {
		if n := len(out); n > 0 && out[n-1].node == d.node {
			out[n-1].Add(d.Reach)
		} else {
			out = append(out, d)
		}
	}
	return out
}
