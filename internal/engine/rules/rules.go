// Package rules takes victims by the rules of package rules, in the state of a search.
package rules

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/rules"
	"github.com/cedesched/cede/workload"
)

// Take takes candidates of the rules, tier by tier, until the request fits; see
// [rules.Evaluator.Find]. Those taken already stay taken and are no candidates. The error says
// that a selector is bad.
func Take(s *search.Search, e *rules.Evaluator, preemptor *workload.Workload) (taken []rules.Candidate, fits bool, err error) {
	return e.Find(preemptor, running(s), state{s})
}

// state is the state of a search, for the walk through the tiers.
type state struct{ *search.Search }

// Fits reports whether the request fits, in its place too.
func (s state) Fits() bool { return s.Search.Fits(true) }

// Take takes a workload as a whole.
func (s state) Take(w *workload.Workload) {
	of, _ := s.Cluster.Find(w.ID)
	node, _ := s.Cluster.QueueNode(w.Queue)
	v := search.Victim{Workload: of, Set: -1, Count: 1, Cohort: -1, Queue: node, ByRules: true}
	if node != s.Request.Queue {
		v.Cohort = lowestAbove(s.Cluster, node, s.Request.Queue)
	}
	s.Search.Take(v)
}

// lowestAbove returns the lowest cohort above two queues; -1 if they are in different trees.
func lowestAbove(c *cluster.Cluster, a, b int) int {
	above := map[int]bool{}
	for n := c.Tree.Parent(a); n >= 0; n = c.Tree.Parent(n) {
		above[n] = true
	}
	n := c.Tree.Parent(b)
	for n >= 0 && !above[n] {
		n = c.Tree.Parent(n)
	}
	return n
}

// running lists, by ID, the workloads that may yield now and use what needs preemption, or may
// hold nodes that the request needs. A room does not say who holds which nodes, so all are
// listed; those that do not help are put back in the end.
func running(s *search.Search) (list []rules.Running) {
	for _, w := range s.Cluster.All() {
		node, _ := s.Cluster.QueueNode(w.Facts.Queue())
		uses := s.UsesNeeded(w.Loads)
		if !uses && s.Request.Room == nil || search.GoesWhole(w, s.Taken) || s.Cluster.Queue(node).Inactive || protected(s, w, node) {
			continue
		}
		out := w.Workload()
		list = append(list, rules.Running{Workload: &out, NodesOnly: !uses})
	}
	return list
}

// protected reports whether a minimum runtime or a guard protects a workload now. Against
// workloads of another queue the minimum runtime is the one against reclaim.
func protected(s *search.Search, w *cluster.Workload, node int) bool {
	if s.Request.Guard != nil && s.Now <= s.Request.Guard(w) {
		return true
	}
	if w.Facts.Evicted {
		return false
	}
	var least minimum.Runtime
	if of := &s.Request.MinRuntime; node == s.Request.Queue {
		least = s.Cluster.Minimum.Preempt(of, node)
	} else {
		least = s.Cluster.Minimum.Reclaim(of, node, lowestAbove(s.Cluster, node, s.Request.Queue))
	}
	until, protects := least.Until(w.Reserved)
	return protects && s.Now <= until
}
