package rules

import (
	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue/rules"
)

// donor is a queue in which a tier may accept workloads.
type donor struct {
	node int
	// common is the lowest cohort above it and the preemptor's queue, and side the child of that on the
	// way to the queue; -1 for the own queue and in other trees.
	common, side int
	selectors.Reach
}

func donorAt(s *search.Search, node int, r selectors.Reach) donor {
	d := donor{node, -1, -1, r}
	if node != s.Request.Queue {
		if d.common = s.Common(node); d.common >= 0 {
			d.side = s.Below(d.common, node)
		}
	}
	return d
}

// victim returns a workload of the queue as a victim of rules, which yields as a whole.
func (d *donor) victim(w *cluster.Workload) right.Victim {
	return right.Victim{Workload: w, Set: -1, Count: 1, Cohort: d.common, Side: d.side, Queue: d.node, ByRules: true}
}

// collect appends the donors of a tier to an empty list, by node; byHeads: without those that branches
// find.
func (t *tier) collect(s *search.Search, list []donor, byHeads bool) []donor {
	elsewhere := t.reach().Elsewhere()
	switch {
	case elsewhere.Free && !byHeads:
		for q := range s.Cluster.Queues {
			list = t.addNamed(s, list, len(s.Cluster.Cohorts)+q)
		}
	case t.reach().OtherTrees():
		for q := range s.Cluster.Queues {
			if n := len(s.Cluster.Cohorts) + q; n == s.Request.Queue || s.Cluster.Tree.Parent(n) < 0 {
				list = t.addNamed(s, list, n)
			}
		}
	default:
		list = t.addNamed(s, list, s.Request.Queue)
		if byHeads || !elsewhere.Any {
			break
		}
		// Constraints on quota hold only in queues that can be reached.
		reached := func(node int) bool { return s.Cluster.CanReach(node) }
		for from, n := s.Request.Queue, s.Cluster.Tree.Parent(s.Request.Queue); n >= 0; from, n = n, s.Cluster.Tree.Parent(n) {
			s.Cluster.EachQueueUnder(n, from, reached, func(q int) bool {
				if reached(q) {
					list = t.addNamed(s, list, q)
				}
				return true
			})
		}
	}
	before := len(list)
	eachByTraits(s, t.reach(), func(node int, r selectors.Reach) {
		list = add(s, list, node, r)
	})
	if len(list) == before {
		return list
	}
	list = united(list)
	for i := range list {
		if d := &list[i]; byHeads && d.node != s.Request.Queue {
			d.Add(t.reach().Of(s.Cluster.Queue(d.node).Name))
		}
	}
	return list
}

// all returns all donors of a tier. Its rules are known.
func (t *tier) all(s *search.Search) []donor {
	if !t.byHeads {
		return t.donors
	}
	if !t.listed {
		t.listed, t.allDonors = true, t.collect(s, t.allDonors[:0], false)
	}
	return t.allDonors
}

// addNamed adds a queue by its name, if a selector that asks for no trait may accept a workload there.
func (t *tier) addNamed(s *search.Search, list []donor, node int) []donor {
	return add(s, list, node, t.reach().Of(s.Cluster.Queue(node).Name))
}

// add adds a queue if some selector may accept a workload there while no victim is taken.
func add(s *search.Search, list []donor, node int, r selectors.Reach) []donor {
	if s.Cluster.Queue(node).Inactive {
		return list
	}
	if r.Free || r.Any && node != s.Request.Queue && !s.View.WithinNominalAtFirst(node, s.Needs) {
		list = append(list, donorAt(s, node, r))
	}
	return list
}

// eachByTraits calls yield with the queues in which a workload has a trait that selectors of a tier ask for,
// and what these may accept there. A queue may come several times.
func eachByTraits(s *search.Search, by *selectors.Reaches, yield func(node int, r selectors.Reach)) {
	for trait, ok := by.NextTrait(0); ok; {
		has, any := s.Cluster.NextTrait(trait)
		if !any {
			break
		}
		if has == trait {
			s.Cluster.EachQueueWith(trait, func(node int) { yield(node, by.OfTrait(trait, s.Cluster.Queue(node).Name)) })
			has++
		}
		trait, ok = by.NextTrait(has)
	}
}

// united sorts donors by node and makes one of the donors of the same queue.
func united(list []donor) []donor {
	heap.Sort(list, func(a, b *donor) bool { return a.node < b.node })
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

// ReachesAllChildren reports whether some selector of the configurations accepts workloads of other queues
// whatever the quota says, so that the cluster has to keep the reach of [cluster.AllChildren].
func ReachesAllChildren(e *selectors.Evaluator) bool {
	for config := range e.Each {
		for i := range config.Rules {
			for _, s := range config.Rules[i].CandidateSelectors {
				if s.Quota == "" && s.Scope != rules.WithinLocalQueue && s.Scope != rules.WithinClusterQueue {
					return true
				}
			}
		}
	}
	return false
}
