package right

import (
	"math"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/minruntime"
)

// SetByProtection stands for [minruntime.Protection] where else the node is that sets a minimum
// runtime.
const SetByProtection = -2

// guaranteeOf returns the guarantee of the workloads of a queue: in the own queue (lca -1) the
// one against preemption, in others the one against reclaim.
func (c *Case) guaranteeOf(queue, lca int) guarantee {
	g := c.minimumOf(queue, lca)
	switch p := &c.Request.Protection; {
	case lca < 0:
		g.protect(p, p.Preempt)
	case c.Request.Fair.Enabled() && !c.entitledAtFirst: // the strategies decide: it is no reclaim
		g.protect(p, p.FairSharing)
	default:
		g.protect(p, p.Reclaim)
	}
	return g
}

// minimumOf returns the minimum runtime alone.
func (c *Case) minimumOf(queue, lca int) guarantee {
	of, tree := &c.Request.MinRuntime, c.Cluster.Minimum
	r := tree.Preempt(of, queue)
	if queue != c.Request.Queue {
		r = tree.Reclaim(of, queue, lca)
	}
	g := guarantee{Minimum: -1, setBy: r.SetBy}
	if r.For > 0 {
		g.Minimum = int64(r.For)
	}
	return g
}

// DonorOfRules returns a queue as a donor of rules, which may be in another tree (lca -1). The
// minimum runtimes protect from rules; the protections do not.
func (c *Case) DonorOfRules(queue, lca int) Donor {
	return Donor{queue, lca, Hierarchical, c.minimumOf(queue, lca)}
}

// ProtectedFromReclaim reports whether the protection against reclaims holds for a victim of
// another queue, whatever the guarantee was that it was a candidate under. Surplus has none.
func (c *Case) ProtectedFromReclaim(v *Victim) bool {
	until, ok := c.ProtectionFromReclaim(v.Workload)
	return ok && v.Set < 0 && c.Now <= until
}

// ProtectionFromReclaim returns the last instant at which the protection against reclaims holds
// for a workload.
func (c *Case) ProtectionFromReclaim(w *cluster.Workload) (until int64, ok bool) {
	g := guarantee{Minimum: -1}
	g.protect(&c.Request.Protection, c.Request.Protection.Reclaim)
	return g.Protects(w)
}

// protect adds a protection. From the reservation on it holds for strictly less than its
// duration, a minimum runtime to its end.
func (g *guarantee) protect(p *minruntime.Protection, d time.Duration) {
	switch {
	case p.From == minruntime.Admission:
		g.admission = int64(d)
	case int64(d)-1 > g.Minimum:
		g.Minimum, g.setBy = int64(d)-1, SetByProtection
	}
}

// Protects returns the last instant at which a workload is protected; ok is false if it never
// is: no duration, no start time, or it is already being evicted.
func (g guarantee) Protects(w *cluster.Workload) (until int64, ok bool) {
	if w.Facts.Evicted {
		return 0, false
	}
	until, ok = g.sinceReservation(w)
	if end, protected := g.sinceAdmission(w); protected && (!ok || end > until) {
		return end, true
	}
	return until, ok
}

// sinceReservation returns the last instant of the part from the reservation on.
func (g guarantee) sinceReservation(w *cluster.Workload) (until int64, ok bool) {
	switch {
	case g.Minimum < 0 || w.Reserved == instant.Unset:
		return 0, false
	case w.Reserved > math.MaxInt64-g.Minimum:
		return math.MaxInt64, true
	default:
		return w.Reserved + g.Minimum, true
	}
}

// sinceAdmission returns the last instant of the protection from the admission on.
func (g guarantee) sinceAdmission(w *cluster.Workload) (until int64, ok bool) {
	if g.admission == 0 {
		return 0, false
	}
	switch at := w.Admitted(); {
	case at == instant.Unset:
		return 0, false
	case at > math.MaxInt64-(g.admission-1):
		return math.MaxInt64, true
	default:
		return at + g.admission - 1, true
	}
}

// setByFor returns what sets the guarantee of a workload that ends last.
func (g guarantee) setByFor(w *cluster.Workload) int {
	until, _ := g.Protects(w)
	if end, ok := g.sinceAdmission(w); ok && end == until && !g.ByReservation(w, until) {
		return SetByProtection
	}
	return g.setBy
}

// ByReservation reports whether the part from the reservation on protects a workload at an
// instant. In a lane, workloads of one priority that were reserved later are protected, too.
func (g guarantee) ByReservation(w *cluster.Workload, at int64) bool {
	until, ok := g.sinceReservation(w)
	return ok && at <= until
}

// FromAdmission reports whether a part holds from the admission on, in which order no index has
// workloads.
func (g guarantee) FromAdmission() bool { return g.admission > 0 }

// ProtectsFromAdmission reports whether workloads are protected from their admission on.
func (r *Request) ProtectsFromAdmission() bool {
	p := &r.Protection
	return p.From == minruntime.Admission && p.Preempt|p.Reclaim|p.FairSharing != 0
}

// PassProtected moves a cursor past a workload that the part from the reservation on protects, and
// past those of its priority that were reserved late enough to be protected, too.
func (g guarantee) PassProtected(cursor *cluster.LaneCursor, lane *cluster.LaneSet, w *cluster.Workload, now int64) {
	priority := w.Priority
	cursor.Seek(*lane, func(o *cluster.Workload) bool {
		return o.Priority < priority || o.Priority == priority && g.ByReservation(o, now)
	})
}
