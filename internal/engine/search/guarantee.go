package search

import (
	"math"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/minruntime"
)

// MinRuntime is the configuration of minimum runtimes: the defaults, and how reclaims
// are resolved.
type MinRuntime struct {
	Defaults minruntime.Settings
	Method   minruntime.Method
}

// guarantee is the minimum runtime of a donor's workloads against this request, in
// nanoseconds, and the node that sets it; -1 for the default.
type guarantee struct {
	minimum int64
	setBy   int
}

// guaranteeOf resolves the minimum runtime: in the own queue that against preemption
// alone, from the queue up; in others that against reclaim, from the child of the common cohort
// on the victim's side up, or from the queue up.
func (s *Searcher) guaranteeOf(queue, lca int) guarantee {
	if lca < 0 {
		return s.guaranteeFrom(s.cluster.PreemptFrom[queue], func(m *minruntime.Settings) minruntime.Setting { return m.Preempt })
	}
	from := queue
	if s.request.MinRuntime.Method == minruntime.LCA {
		for s.view.Tree.Parent(from) != lca {
			from = s.view.Tree.Parent(from)
		}
	}
	return s.guaranteeFrom(s.cluster.ReclaimFrom[from], func(m *minruntime.Settings) minruntime.Setting { return m.Reclaim })
}

func (s *Searcher) guaranteeFrom(node int, of func(*minruntime.Settings) minruntime.Setting) guarantee {
	settings := &s.request.MinRuntime.Defaults
	if node >= 0 {
		settings = s.cluster.MinRuntime(node)
	}
	d, _ := of(settings).Get()
	return guarantee{int64(d / time.Nanosecond), node}
}

// protects returns the last instant at which a workload is protected; ok is false when
// it never is: no minimum, no start time, or it is being evicted already.
func (g guarantee) protects(w *cluster.Workload) (until int64, ok bool) {
	if g.minimum <= 0 || w.Reserved == instant.Unset || w.Facts.Evicted {
		return 0, false
	}
	if w.Reserved > math.MaxInt64-g.minimum {
		return math.MaxInt64, true
	}
	return w.Reserved + g.minimum, true
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
