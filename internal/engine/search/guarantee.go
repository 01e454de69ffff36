package search

import (
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/minimum"
)

// guarantee is the minimum runtime of a donor's workloads against this request, in
// nanoseconds, and the node that sets it; -1 for the default.
type guarantee struct {
	Minimum int64
	setBy   int
}

// guaranteeOf returns the minimum runtime of the workloads of a queue: in the own queue (lca
// -1) the one against preemption, in others the one against reclaim.
func (s *Search) guaranteeOf(queue, lca int) guarantee {
	of, tree := &s.Request.MinRuntime, s.Cluster.Minimum
	r := tree.Preempt(of, queue)
	if lca >= 0 {
		r = tree.Reclaim(of, queue, lca)
	}
	return guarantee{int64(r.For / time.Nanosecond), r.SetBy}
}

// Protects returns the last instant at which a workload is protected; ok is false if it never
// is: no minimum, no start time, or it is already being evicted.
func (g guarantee) Protects(w *cluster.Workload) (until int64, ok bool) {
	if w.Facts.Evicted {
		return 0, false
	}
	return minimum.Runtime{For: time.Duration(g.Minimum)}.Until(w.Reserved)
}

// guarded reports whether the guards protect a workload now.
func (s *Search) guarded(w *cluster.Workload) bool {
	return s.Request.Guard != nil && s.Now <= s.Request.Guard(w)
}

// protected reports whether a workload is protected now. Strictly after the end it is not.
func (s *Search) protected(g guarantee, w *cluster.Workload) bool {
	until, ok := g.Protects(w)
	return ok && s.Now <= until
}
