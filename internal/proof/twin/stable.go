package twin

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// refuses reports whether stable fair sharing keeps a workload, whoever else yields.
func (d *decision) refuses(r *workload.Workload) bool {
	if !d.stable() || d.leavesAnyway(r) {
		return false
	}
	mine := &d.request.Workload
	earlier := importance(r) > importance(mine) || importance(r) == importance(mine) && !later(r.Queued, mine.Queued)
	if !d.borrower(mine) {
		return earlier && !d.borrower(r)
	}
	return !d.borrower(r) || importance(r) > importance(mine) || r.Queue == mine.Queue && earlier
}

// stable: it is configured, and there might be circles without it.
func (d *decision) stable() bool {
	if !d.config.Fair.Stable {
		return false
	}
	above := d.ancestors(d.queue)
	for name, q := range d.queues {
		if of := d.ancestors(node{"queue", name}); len(above) > 0 && len(of) > 0 && of[len(of)-1] == above[len(above)-1] &&
			q.Preemption.ReclaimWithinCohort == queue.Any {
			return true
		}
	}
	return d.config.NewerByReservation
}

// leavesAnyway: it is being evicted, or its time is over.
func (d *decision) leavesAnyway(r *workload.Workload) bool {
	least, timed := d.minAdmit()
	over := timed && d.request.Now.Sub(d.reserved(r)) > least
	return r.Evicted || r.Queue == d.queue.name && importance(r) == importance(&d.request.Workload) && over
}

// borrower reports whether a workload does not fit in the nominal quota of its queue beside
// those before it that do. The request comes after those that it ties with.
func (d *decision) borrower(of *workload.Workload) bool {
	var list []*workload.Workload
	for i := range d.running {
		if d.running[i].Queue == of.Queue && d.running[i].ID != of.ID {
			list = append(list, &d.running[i])
		}
	}
	before := func(a, b *workload.Workload) int {
		order := cmp.Compare(importance(b), importance(a))
		switch {
		case order != 0:
		case later(b.Queued, a.Queued):
			return -1
		case later(a.Queued, b.Queued):
			return 1
		case a.ID == d.request.Workload.ID || b.ID == d.request.Workload.ID:
			return compareBool(a.ID == d.request.Workload.ID, b.ID == d.request.Workload.ID)
		}
		return cmp.Or(order, cmp.Compare(a.UID, b.UID), cmp.Compare(a.ID, b.ID))
	}
	slices.SortFunc(list, before)
	held := map[quota.FlavorResource]int64{}
	fits := func(w *workload.Workload) bool {
		for _, fr := range named(w) {
			amount := amountOf(w, fr, nil)
			if amount > 0 && quota.Add(held[fr], amount) > d.entry(node{"queue", of.Queue}, fr).Nominal {
				return false
			}
		}
		return true
	}
	for _, w := range list {
		if before(w, of) > 0 {
			break
		}
		if fits(w) {
			for _, fr := range named(w) {
				held[fr] = quota.Add(held[fr], amountOf(w, fr, nil))
			}
		}
	}
	return !fits(of)
}

// keepsShares reports whether the taken ones and one more leave the shares as stable fair
// sharing wants them: of an equal of a request that borrows.
func (d *decision) keepsShares(taken []candidate, c candidate) bool {
	mine := &d.request.Workload
	equal := func(c candidate) bool { return importance(&c.w) == importance(mine) && !d.leavesAnyway(&c.w) }
	if !d.stable() || !equal(c) || !d.borrower(mine) {
		return true
	}
	all := append(slices.DeleteFunc(slices.Clone(taken), func(c candidate) bool { return d.leavesAnyway(&c.w) }), c)
	others := slices.ContainsFunc(all, func(c candidate) bool { return c.w.Queue != mine.Queue && equal(c) })
	first, last := d.importantShare(mine.Queue, nil, false), d.importantShare(mine.Queue, all, true)
	if order := compareShares(last, first); order < 0 || order == 0 && others {
		return false
	}
	return c.w.Queue == mine.Queue || compareShares(d.importantShare(mine.Queue, nil, true), d.importantShare(c.w.Queue, all, false)) <= 0
}

// importantShare is the share of a queue of workloads of at least the request's priority. What leaves of a
// workload that goes whole counts as being there, as everything that leaves anyway.
func (d *decision) importantShare(name string, taken []candidate, asked bool) share {
	some := *d.world
	some.running = slices.DeleteFunc(slices.Clone(some.running), func(w workload.Workload) bool {
		return w.Queue == name && importance(&w) < importance(&d.request.Workload)
	})
	some.added, some.addedTo = nil, ""
	if asked {
		some.added, some.addedTo = d.asked, name
	}
	of := decision{world: &some}
	of.setGone(taken)
	maps.DeleteFunc(of.gone, func(id string, _ bool) bool { return leaves(id) })
	return some.share(node{"queue", name})
}

// everything lists what the tree of the queue has quotas for, and what is asked.
func (d *decision) everything() []quota.FlavorResource {
	above := append([]node{d.queue}, d.ancestors(d.queue)...)
	list := slices.Collect(maps.Keys(d.quotasUnder(above[len(above)-1])))
	for _, a := range d.asked {
		list = append(list, a.FlavorResource())
	}
	return list
}

// entitled: a preemptor that stays within its nominal quota needs no strategy.
func (d *decision) entitled() bool {
	d.setGone(nil)
	d.added, d.addedTo = d.asked, d.queue.name
	defer func() { d.added = nil }()
	of := d.needed
	if d.config.Fair.Stable {
		of = d.everything()
	}
	return !d.config.Fair.IgnoreNominalEntitlement && d.within(d.queue, of)
}

// recheck: shares are looked at again before a victim is put back.
func (d *decision) recheck() bool { return d.config.Fair.RecheckShares || d.config.Fair.Stable }
