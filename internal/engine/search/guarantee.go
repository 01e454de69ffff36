package search

import (
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/minimum"
)

// guarantee is the minimum runtime of a donor's workloads against this request, in
// nanoseconds, and the node that sets it; -1 for the default.
type guarantee struct {
	minimum int64
	setBy   int
}

// guaranteeOf returns the minimum runtime of a queue's workloads: in the own queue, where lca
// is -1, that against preemption; in others that against reclaim.
func (s *Searcher) guaranteeOf(queue, lca int) guarantee {
	of, tree := &s.request.MinRuntime, s.cluster.Minimum
	r := tree.Preempt(of, queue)
	if lca >= 0 {
		r = tree.Reclaim(of, queue, lca)
	}
	return guarantee{int64(r.For / time.Nanosecond), r.SetBy}
}

// protects returns the last instant at which a workload is protected; ok is false when
// it never is: no minimum, no start time, or it is being evicted already.
func (g guarantee) protects(w *cluster.Workload) (until int64, ok bool) {
	if w.Facts.Evicted {
		return 0, false
	}
	return minimum.Runtime{For: time.Duration(g.minimum)}.Until(w.Reserved)
}

// guarded reports whether the caller's rules keep a workload now.
func (s *Searcher) guarded(w *cluster.Workload) bool {
	return s.request.Guard != nil && s.request.Now <= s.request.Guard(w)
}

// protected reports whether a workload is protected now: strictly later than the end it
// is not.
func (s *Searcher) protected(g guarantee, w *cluster.Workload) bool {
	until, ok := g.protects(w)
	return ok && s.request.Now <= until
}
