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
	for trait, ok := t.rules.NextTrait(0); ok; {
		has, any := s.Cluster.NextTrait(trait)
		if !any {
			break
		}
		if has == trait {
			s.Cluster.EachQueueWith(trait, func(node int) { t.add(s, node, t.rules.ReachOf(trait, s.Cluster.Queue(node).Name)) })
			has++
		}
		trait, ok = t.rules.NextTrait(has)
	}
	if len(t.donors) == before {
		return
	}
	slices.SortFunc(t.donors, func(a, b donor) int { return cmp.Compare(a.node, b.node) })
	list := t.donors[:0]
	for _, d := range t.donors {
		if n := len(list); n > 0 && list[n-1].node == d.node {
			list[n-1].Add(d.Reach)
		} else {
			list = append(list, d)
		}
	}
	t.donors = list
}
