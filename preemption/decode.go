package preemption

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/engine/why"
	"github.com/cedesched/cede/workload"
)

// leave turns a result into a decision.
func (sc *scratch) leave(c *cluster.Cluster, r *Request, found *decide.Result, d *Decision) {
	sc.history = found.History
	*d = Decision{BorrowHeight: found.BorrowHeight, Assignment: sc.open.assignment(&r.Workload)}
	switch {
	case found.Fits:
		d.Outcome = Fits
		w := d.Assignment.Pin(r.Workload)
		w.ReservedAt, w.AdmittedAt, w.Evicted = r.Now, time.Time{}, false
		w.Gates = w.Gates.Cleared(r.Now)
		d.Admitted = &w
	case len(found.Victims) > 0 || found.Awaits:
		d.Outcome = Preempt
		d.Victims = victims(c, &r.Workload, found.Victims)
		switch gated := r.Workload.Gates.AnyClosed(); {
		case found.Awaits || gated && allLeaving(d.Victims):
			d.Outcome, d.Leaving = Wait, true
		case gated: // KEP-8303, Kueue Scheduler
			d.Outcome = Gated
		}
		if found.ByRules {
			sc.nameRules(found.Victims, d.Victims)
			d.Triggers = sc.triggers()
		}
		sc.price(c, d)
	default:
		d.Outcome, d.NoRoom = Impossible, found.NoRoom
		if found.Waits {
			d.Outcome = Wait
			if !sc.request.Retry.Skip {
				d.RetryAt = instant.Time(found.RetryAt)
			}
		}
		sc.explain(c, d, found)
		d.RuleFaults, d.Triggers = sc.ruleFaults(), sc.triggers()
	}
	if sc.request.Better.Proves() && !found.Fits && !found.ByRules && !r.Workload.NeverPreempts && !d.Leaving && !allLeaving(d.Victims) {
		d.Proof = proofOf(&found.Proof, len(found.Victims) > 0)
	}
}

// victims sorts the victims by workload and adds up the replicas of each. If a workload
// yields as a whole, its replicas that were taken before are part of it.
func victims(c *cluster.Cluster, preemptor *workload.Workload, taken []right.Victim) []Victim {
	for i := range taken {
		taken[i].Turn = int32(i + 1)
	}
	slices.SortFunc(taken, func(a, b right.Victim) int {
		if order := cmp.Compare(a.Workload.Facts.ID, b.Workload.Facts.ID); order != 0 {
			return order
		}
		if a.Fair != b.Fair { // with Reevaluated: the reason of a part that no strategy took counts
			if b.Fair {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Workload.Leaving, b.Workload.Leaving), cmp.Compare(a.Set, b.Set))
	})
	list := make([]Victim, 0, len(taken))
	whole := false
	for i, v := range taken {
		if i == 0 || taken[i-1].Workload.Facts.ID != v.Workload.Facts.ID {
			list, whole = append(list, victim(c, preemptor, v)), false
		}
		last := &list[len(list)-1]
		last.Order = min(last.Order, int(v.Turn))
		last.Leaving = last.Leaving && v.Workload.Facts.Evicted
		count, leaving := v.Replicas()
		if whole = whole || count == 0; whole {
			last.Replicas = nil
			continue
		}
		r := Replicas{PodSet: v.PodSet(), Count: count}
		if leaving {
			r.Leaving = count
		}
		last.Replicas = addReplicas(last.Replicas, r)
	}
	for i := range list {
		slices.SortFunc(list[i].Replicas, func(a, b Replicas) int { return cmp.Compare(a.PodSet, b.PodSet) })
	}
	if len(list) < len(taken) {
		number(list)
	}
	return list
}

// allLeaving reports whether there are victims, and all were told to leave before.
func allLeaving(list []Victim) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(v Victim) bool { return !v.Leaving })
}

// number makes the orders of the victims the numbers from 1.
func number(list []Victim) {
	byOrder := make([]*Victim, len(list))
	for i := range list {
		byOrder[i] = &list[i]
	}
	slices.SortFunc(byOrder, func(a, b *Victim) int { return cmp.Compare(a.Order, b.Order) })
	for i, v := range byOrder {
		v.Order = i + 1
	}
}

func addReplicas(list []Replicas, more Replicas) []Replicas {
	if at := slices.IndexFunc(list, func(r Replicas) bool { return r.PodSet == more.PodSet }); at >= 0 {
		list[at].Count += more.Count
		list[at].Leaving += more.Leaving
		return list
	}
	return append(list, more)
}

func victim(c *cluster.Cluster, preemptor *workload.Workload, v right.Victim) Victim {
	out := Victim{Workload: v.Workload.Facts.ID, Queue: v.Workload.Facts.Queue(), Reason: VictimReason(v.Right()), Leaving: v.Workload.Facts.Evicted, Order: int(v.Turn)}
	if v.Expired {
		out.PreemptorQueued = preemptor.Queued
	}
	if v.Cohort >= 0 {
		out.Cohort = c.Cohorts[v.Cohort].Name
	}
	return out
}

// explain adds the shortage and the blockers.
func (sc *scratch) explain(c *cluster.Cluster, d *Decision, found *decide.Result) {
	d.Shortage = make([]Shortage, 0, len(found.Shortages))
	for _, sh := range found.Shortages {
		out := Shortage{
			FlavorResource:     sc.names[sh.Slot],
			Missing:            sh.Missing,
			NeverYields:        sh.NeverYields,
			PotentialAvailable: c.Tree.PotentialAvailable(sc.request.Queue, sc.request.Columns[sh.Slot]),
		}
		if !c.IsQueue(sh.Bound) {
			out.Cohort = c.Cohorts[sh.Bound].Name
		}
		d.Shortage = append(d.Shortage, out)
	}
	slices.SortFunc(d.Shortage, func(a, b Shortage) int { return a.FlavorResource.Compare(b.FlavorResource) })
	d.Blockers = sc.blockers(c, found.Blockers)
}

func (sc *scratch) blockers(c *cluster.Cluster, found []why.Blocker) []Blocker {
	if len(found) == 0 {
		return nil
	}
	list := make([]Blocker, 0, len(found))
	for _, b := range found {
		out := Blocker{Rule: Rule(b.Rule)}
		if c.IsQueue(b.Node) {
			out.Queue = c.Queue(b.Node).Name
		} else {
			out.Cohort = c.Cohorts[b.Node].Name
		}
		if b.Workload != nil {
			out.Workload = b.Workload.Facts.ID
			if b.Rule == trace.Guarded && b.Until < math.MaxInt64 {
				out.Until = instant.Time(b.Until)
			}
			if b.Rule == trace.MinRuntime {
				out.Until, out.SetBy = instant.Time(b.Until), minimumSetBy(c, b.SetBy)
			}
			if until, ends := sc.request.HeldUntil(b.Workload); ends && b.Rule == trace.WithinClusterQueue {
				out.Until = instant.Time(until)
			}
		}
		list = append(list, out)
	}
	return list
}

// minimumSetBy returns the text of who sets a minimum runtime.
func minimumSetBy(c *cluster.Cluster, node int) string {
	switch node {
	case -1:
		return "default"
	case right.SetByProtection:
		return "protection"
	}
	return c.NodeName(node)
}
