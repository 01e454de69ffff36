package rules

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
)

// victim returns a workload as a victim of rules, which yields as a whole.
func victim(s *search.Search, w *cluster.Workload, node int) right.Victim {
	v := right.Victim{Workload: w, Set: -1, Count: 1, Cohort: -1, Queue: node, ByRules: true}
	if node != s.Request.Queue {
		if v.Cohort = lowestAbove(s.Cluster, node, s.Request.Queue); v.Cohort >= 0 {
			v.Side = s.Below(v.Cohort, node)
		}
	}
	return v
}

// lowestAbove returns the lowest cohort above two queues; -1 if they are in different trees.
func lowestAbove(c *cluster.Cluster, a, b int) int {
	a, b = c.Tree.Parent(a), c.Tree.Parent(b)
	for a >= 0 && b >= 0 && a != b {
		switch deeper := c.Tree.Depth(a) - c.Tree.Depth(b); {
		case deeper > 0:
			a = c.Tree.Parent(a)
		case deeper < 0:
			b = c.Tree.Parent(b)
		default:
			a, b = c.Tree.Parent(a), c.Tree.Parent(b)
		}
	}
	if a < 0 || b < 0 {
		return -1
	}
	return a
}

// affects reports whether a victim, taken or put back, may change which constraints on shares hold for a
// candidate.
func affects(s *search.Search, v, of *right.Victim) bool {
	return helps(s, v, of) || of.Cohort >= 0 && v.Cohort == of.Cohort && v.Side == of.Side
}

// helps reports whether a victim is on the preemptor's side, as seen from another queue of its tree.
func helps(s *search.Search, v, of *right.Victim) bool {
	depth := s.Cluster.Tree.Depth
	return of.Cohort >= 0 && (v.Queue == s.Request.Queue || v.Cohort >= 0 && depth(v.Cohort) > depth(of.Cohort))
}
