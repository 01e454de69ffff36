package witness

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// KAI, Guaranteed minimum runtime; KEP-9876, preemption protection; the guards of the caller.

// mayYield: "It is AND-ed with the policy." What never yields does not; "who is being evicted leaves
// anyway".
func (w *world) mayYield(c *candidate, at time.Time) bool {
	if c.of.NeverYields && !c.leaving {
		return false
	}
	until, never := protectedUntil(w, c)
	return !never && (until.IsZero() || at.After(until))
}

// protectedUntil returns the last instant at which a rule protects the candidate: "the latest end
// wins".
func protectedUntil(w *world, c *candidate) (until time.Time, never bool) {
	if c.podSet == whole && !c.leaving {
		until = later(minimumEnds(w, c.of), protectionEnds(w, c))
	}
	for _, g := range w.config.Guards {
		v := g.Verdict(c.of.Workload, w.request)
		end, _ := v.Until()
		until, never = later(until, end), never || v.Never()
	}
	return until, never
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// minimumEnds: "A victim is protected until startedAt + minRuntime; preemptible iff now is strictly
// later. No start time = never protected; a start in the future with min-runtime 0 does not protect."
func minimumEnds(w *world, r *running) time.Time {
	least, _ := minimumRuntime(w, r.home)
	if least <= 0 || r.ReservedAt.IsZero() {
		return time.Time{}
	}
	return r.ReservedAt.Add(least)
}

// minimumRuntime: KAI, Preemptions: "Starting from the leaf-queue, walk the tree until the first
// defined preempt-min-runtime is set and use that." Reclaims: "Use the reclaim-min-runtime from this
// queue, if it is set. Otherwise move back up towards root of tree and select the first available
// queue-level override, or default to the node pool-level configuration value."
func minimumRuntime(w *world, home *node) (least time.Duration, setBy string) {
	reclaim, from, set := home != w.own, home, quota.OptionalDuration{}
	if reclaim {
		from = reclaimStart(w, home)
	}
	for n := from; n != nil; n = n.parent {
		if set = n.minimum.Preempt; reclaim {
			set = n.minimum.Reclaim
		}
		if d, ok := set.Get(); ok {
			return d, n.title()
		}
	}
	if reclaim {
		return w.config.MinRuntime.Reclaim.Or(0), "default"
	}
	return w.config.MinRuntime.Preempt.Or(0), "default"
}

func (n *node) title() string {
	if n.queue != nil {
		return fmt.Sprintf("queue %q", n.name)
	}
	return fmt.Sprintf("cohort %q", n.name)
}

// reclaimStart: KAI, Reclaims: "Resolve the lowest common ancestor (LCA) between the leaf-queues of
// preemptor and preemptee. Walk 1 step down to the child of the LCA that is an ancestor to the
// preemptee's leaf queue." Method Queue "starts at the victim's own queue".
func reclaimStart(w *world, home *node) *node {
	if w.config.MinRuntime.Method == minruntime.Queue {
		return home
	}
	for n := home; ; n = n.parent {
		if n.parent == nil || n.parent.above(w.own) {
			return n
		}
	}
}

// protectionEnds: KEP-9876: "A workload is protected while it runs for strictly less than the
// duration", which depends on the reason; so the last instant is one nanosecond before the end.
func protectionEnds(w *world, c *candidate) time.Time {
	p, start := w.config.Protection, c.of.AdmittedAt
	if p.From == minruntime.Reservation {
		start = c.of.ReservedAt
	}
	lasts := p.Reclaim
	switch c.reason {
	case preemption.ConfigurablePreemption: // "It does not protect from rules, whose selectors have times of their own."
		return time.Time{}
	case preemption.InClusterQueue, preemption.InClusterQueueTimeBased:
		lasts = p.Preempt
	case preemption.InCohortFairSharing:
		lasts = p.FairSharing
	}
	if lasts <= 0 || start.IsZero() {
		return time.Time{}
	}
	return start.Add(lasts - 1)
}
