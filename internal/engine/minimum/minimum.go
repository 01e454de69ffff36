// Package minimum resolves minimum runtimes in the tree of queues and cohorts.
//
// Source of the rules: KAI's design "Guaranteed minimum runtime before preemptions and
// reclaims", "Resolving the applicable min-runtime".
package minimum

import (
	"math"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/quota"
)

// Runtime is a minimum runtime and the node that sets it; -1 for the default.
type Runtime struct {
	For   time.Duration
	SetBy int
}

// Until returns the last instant at which a workload that started at the given instant is
// protected. It may be preempted only strictly later. ok is false if it is never protected:
// no minimum, or no start.
func (r Runtime) Until(started int64) (until int64, ok bool) {
	if r.For <= 0 || started == instant.Unset {
		return 0, false
	}
	if started > math.MaxInt64-int64(r.For) {
		return math.MaxInt64, true
	}
	return started + int64(r.For), true
}

// Tree holds, for each node, the minimum runtimes set by the nearest node at or above it. It
// is immutable.
type Tree struct {
	parents          []int
	preempt, reclaim []Runtime // set by -1: no node sets one
}

// NewTree makes a tree. parents[n] is the parent of n, -1 for a root; there must be no cycle.
func NewTree(parents []int, settings func(node int) *minruntime.Settings) *Tree {
	return &Tree{
		parents: parents,
		preempt: inherit(parents, func(n int) quota.OptionalDuration { return settings(n).Preempt }),
		reclaim: inherit(parents, func(n int) quota.OptionalDuration { return settings(n).Reclaim }),
	}
}

// inherit returns, for each node, the setting of the nearest node at or above it.
func inherit(parents []int, setting func(node int) quota.OptionalDuration) []Runtime {
	const unknown = -2
	nearest := make([]Runtime, len(parents))
	for i := range nearest {
		nearest[i].SetBy = unknown
	}
	for i := range nearest {
		n := i
		for n >= 0 && nearest[n].SetBy == unknown && setting(n).IsZero() {
			n = parents[n]
		}
		found := Runtime{SetBy: -1}
		if n >= 0 {
			if found = nearest[n]; found.SetBy == unknown {
				found = Runtime{setting(n).Or(0), n}
			}
		}
		for m := i; m >= 0 && nearest[m].SetBy == unknown; m = parents[m] {
			nearest[m] = found
			if m == found.SetBy {
				break
			}
		}
	}
	return nearest
}

// Preempt returns the minimum runtime of a queue's workloads against workloads of the same
// queue: the first setting from the queue up, else the default.
func (t *Tree) Preempt(c *minruntime.Defaults, queue int) Runtime {
	return orDefault(t.preempt[queue], c.Preempt)
}

// Reclaim returns the minimum runtime of a queue's workloads against those of another queue.
// lca is the lowest common ancestor of both queues, -1 for queues with different roots. It is
// the first setting from the queue up. By [minruntime.LCA] it is the first setting from the
// child of lca above the queue up, or from the queue up if the queue is lca itself. If there
// is none it is the default.
func (t *Tree) Reclaim(c *minruntime.Defaults, queue, lca int) Runtime {
	from := queue
	if c.Method == minruntime.LCA && queue != lca {
		for t.parents[from] != lca {
			from = t.parents[from]
		}
	}
	return orDefault(t.reclaim[from], c.Reclaim)
}

func orDefault(r Runtime, unset quota.OptionalDuration) Runtime {
	if r.SetBy < 0 {
		r.For = unset.Or(0)
	}
	return r
}
