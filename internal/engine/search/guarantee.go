package search

import (
	"math"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/minruntime"
)

// guarantee says how long a donor's workloads are protected against this request, in
// nanoseconds. The later end holds.
type guarantee struct {
	// Minimum is from the reservation on: the minimum runtime or the protection; -1 for none. setBy
	// is the node that sets it; -1 for the default, SetByProtection for the protection.
	Minimum int64
	setBy   int
	// admission is the protection from the admission on.
	admission int64
}

// SetByProtection stands for [minruntime.Protection] where else the node is that sets a minimum
// runtime.
const SetByProtection = -2

// guaranteeOf returns the guarantee of the workloads of a queue: in the own queue (lca -1) the
// one against preemption, in others the one against reclaim.
func (s *Search) guaranteeOf(queue, lca int) guarantee {
	of, tree := &s.Request.MinRuntime, s.Cluster.Minimum
	r := tree.Preempt(of, queue)
	if lca >= 0 {
		r = tree.Reclaim(of, queue, lca)
	}
	g := guarantee{Minimum: -1, setBy: r.SetBy}
	if r.For > 0 {
		g.Minimum = int64(r.For)
	}
	switch p := &s.Request.Protection; {
	case lca < 0:
		g.protect(p, p.Preempt)
	case s.byShares():
		g.protect(p, p.FairSharing)
	default:
		g.protect(p, p.Reclaim)
	}
	return g
}

// ProtectedFromReclaim reports whether the protection against reclaims holds for a victim of
// another queue, whatever the guarantee was that it was a candidate under. Surplus has none.
func (s *Search) ProtectedFromReclaim(v *Victim) bool {
	until, ok := s.ProtectionFromReclaim(v.Workload)
	return ok && v.Set < 0 && s.Now <= until
}

// ProtectionFromReclaim returns the last instant at which the protection against reclaims holds
// for a workload.
func (s *Search) ProtectionFromReclaim(w *cluster.Workload) (until int64, ok bool) {
	g := guarantee{Minimum: -1}
	g.protect(&s.Request.Protection, s.Request.Protection.Reclaim)
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

// byShares reports whether workloads of other queues are preempted by the strategies of fair
// sharing, not reclaimed.
func (s *Search) byShares() bool { return s.Request.Fair.Enabled() && !s.entitledAtFirst }

// noteEntitled finds out whether the preemptor is entitled while nobody is taken, if a
// protection depends on it.
func (s *Search) noteEntitled() {
	if p := &s.Request.Protection; s.Request.Fair.Enabled() && p.Reclaim != p.FairSharing {
		s.entitledAtFirst = s.entitledNow()
	}
}

// entitledNow is [Search.Entitled] for a request that is not counted yet.
func (s *Search) entitledNow() bool {
	s.added = s.AppendAdded(s.added[:0])
	s.View.MoveAmounts(usage.Victims, s.Request.Queue, s.added, 1)
	entitled := s.Entitled()
	s.View.MoveAmounts(usage.Victims, s.Request.Queue, s.added, -1)
	return entitled
}

// AppendAdded appends, by slot, what the request adds to usage: its amount, except where the
// largest usage plus the largest request is one too many for an int64.
func (s *Search) AppendAdded(list []int64) []int64 {
	list = append(list, s.Request.Amounts...)
	added := list[len(list)-len(s.Request.Amounts):]
	for n := s.Request.Queue; n >= 0; n = s.View.Tree.Parent(n) {
		for slot, cells := 0, s.View.Cells(n); slot < len(added); slot++ {
			added[slot] = min(added[slot], math.MaxInt64-cells[slot].Used(usage.Victims))
		}
	}
	return list
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

// setByFor returns who sets the guarantee of a workload that ends last.
func (g guarantee) setByFor(w *cluster.Workload) int {
	until, _ := g.Protects(w)
	if end, ok := g.sinceAdmission(w); ok && end == until && !g.byReservation(w, until) {
		return SetByProtection
	}
	return g.setBy
}

// byReservation reports whether the part from the reservation on protects a workload at an
// instant.
func (g guarantee) byReservation(w *cluster.Workload, at int64) bool {
	until, ok := g.sinceReservation(w)
	return ok && at <= until
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

// ProtectsFromAdmission reports whether workloads are protected from their admission on, in
// which order no index has them.
func (r *Request) ProtectsFromAdmission() bool {
	p := &r.Protection
	return p.From == minruntime.Admission && p.Preempt|p.Reclaim|p.FairSharing != 0
}
