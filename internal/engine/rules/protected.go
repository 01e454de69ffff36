package rules

import (
	"math"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/internal/engine/search"
)

// protects reports whether a minimum runtime protects a workload at an instant.
func protects(least minimum.Runtime, w *cluster.Workload, at int64) bool {
	until, ok := least.Until(w.Reserved)
	return ok && at <= until
}

// guarded reports whether a guard protects a workload at the instant of the search.
func guarded(s *search.Search, w *cluster.Workload) bool {
	return s.Request.Guard != nil && s.Now <= s.Request.Guard(w)
}

// protectedUntil returns the last instant at which a minimum runtime or a guard protects a
// workload; the lowest int64 if none does. Against workloads of another queue the minimum
// runtime is the one against reclaim.
func protectedUntil(s *search.Search, w *cluster.Workload, node int) int64 {
	last := int64(math.MinInt64)
	if s.Request.Guard != nil {
		last = s.Request.Guard(w)
	}
	if w.Facts.Evicted {
		return last
	}
	if until, protects := minimumOf(s, node).Until(w.Reserved); protects {
		last = max(last, until)
	}
	return last
}

// minimumOf returns the minimum runtime of the workloads of a queue against the preemptor.
func minimumOf(s *search.Search, node int) minimum.Runtime {
	of := &s.Request.MinRuntime
	if node == s.Request.Queue {
		return s.Cluster.Minimum.Preempt(of, node)
	}
	return s.Cluster.Minimum.Reclaim(of, node, lowestAbove(s.Cluster, node, s.Request.Queue))
}
