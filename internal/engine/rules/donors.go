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

// collect finds the donors of a tier, by node.
func (t *tier) collect(s *search.Search) {
	if elsewhere := t.rules.Elsewhere(); !elsewhere.Any {
		t.add(s, s.Request.Queue, t.rules.Reach(s.Cluster.Queue(s.Request.Queue).Name))
	} else {
		for q := range s.Cluster.Queues {
			node := len(s.Cluster.Cohorts) + q
			if node == s.Request.Queue || elsewhere.Free || !s.View.WithinNominalAtFirst(node, s.Needs) {
				t.add(s, node, t.rules.Reach(s.Cluster.Queues[q].Name))
			}
		}
	}
	t.collectByTraits(s)
}

// add adds a queue if some selector may accept somebody there, with nobody gone.
func (t *tier) add(s *search.Search, node int, r rules.Reach) {
	if s.Cluster.Queue(node).Inactive {
		return
	}
	if r.Free || r.Any && node != s.Request.Queue && !s.View.WithinNominalAtFirst(node, s.Needs) {
		t.donors = append(t.donors, donor{node, r})
	}
}

// collectByTraits adds the queues in which somebody has a trait that selectors ask for.
func (t *tier) collectByTraits(s *search.Search) {
	before := len(t.donors)
	eachByTraits(s, t.rules, func(node int, r rules.Reach) { t.add(s, node, r) })
	if len(t.donors) > before {
		t.donors = united(t.donors)
	}
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
