package why

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Blockers lists the blockers, no more than most, in the order of the walk: the own
// queue; then, for each cohort upwards, its queues before those of its child cohorts, by
// name. Above the node of which the limit is exceeded no victim would help. The list is valid until the
// next call.
func (a *Asker) Blockers(s *search.Search, most int) []Blocker {
	a.Search, a.list, a.most = s, a.list[:0], most
	a.walk()
	a.Search, a.Rules = nil, nil
	return a.list
}

func (a *Asker) walk() {
	top := -1
	for _, sh := range a.WhyNot.Shortages {
		if a.Request.Amounts[sh.Slot] > a.View.Potential(a.Request.Queue, sh.Slot) {
			return // the request is over what could ever be available
		}
		if top < 0 || a.View.Tree.Depth(sh.Bound) < a.View.Tree.Depth(top) {
			top = sh.Bound
		}
	}
	if top < 0 {
		return
	}
	if a.Request.Entitled != nil && !right.MayReclaim(&a.Case) {
		a.add(trace.FairShare, a.Request.Queue, nil)
	}
	own, _ := a.OwnDonor()
	a.queue(&own)
	if top == a.Request.Queue {
		return
	}
	for l := range a.EachLevel {
		a.level(&l)
		if l.Cohort == top || a.full() {
			break
		}
	}
}

func (a *Asker) full() bool { return len(a.list) >= a.most }

func (a *Asker) add(rule trace.Rule, node int, w *cluster.Workload) {
	a.list = append(a.list, Blocker{right.Verdict{Rule: rule, SetBy: -1}, node, w})
}

// level lists the queues of a level. A whole cohort that borrows nothing is listed in
// place of its queues.
func (a *Asker) level(l *right.Level) {
	enter := func(cohort int) bool {
		if a.full() || !a.holdsShort(cohort) {
			return false
		}
		if !a.GaveAtFirst(cohort) {
			a.add(trace.WithinNominal, cohort, nil)
			return false
		}
		return true
	}
	a.Cluster.EachQueueUnder(l.Cohort, l.Except, enter, func(q int) bool {
		if !a.full() && a.holdsShort(q) {
			d := a.DonorAt(l, q)
			a.queue(&d)
		}
		return !a.full()
	})
}

// queue lists a queue if it uses what is short: the first layer that says no.
func (a *Asker) queue(d *right.Donor) {
	q := d.Queue
	if a.full() || !a.holdsShort(q) {
		return
	}
	switch w, kept := a.firstKeptFromRules(q); {
	case w != nil:
		a.list = append(a.list, Blocker{kept, q, w})
		return
	case d.Class != right.Own && !a.GaveAtFirst(q):
		a.add(trace.WithinNominal, q, nil)
		return
	case a.Cluster.Queue(q).Inactive:
		a.add(trace.QueueInactive, q, nil)
		return
	}
	if w := a.firstKept(d); w != nil {
		a.list = append(a.list, Blocker{a.keeps(d, w), q, w})
	} else if w := a.firstRefused(d, d.Class == right.Own); w != nil {
		rule := trace.ReclaimWithinCohort
		if d.Class == right.Own {
			rule = trace.WithinClusterQueue
		}
		a.add(rule, q, w)
	} else if d.Class == right.Own {
		if w := a.firstUnstable(d); w != nil {
			a.add(trace.FairShare, q, w)
		}
	} else if w := a.firstRefused(d, true); w != nil {
		a.add(trace.BorrowWithinCohort, q, w)
	} else if w := a.firstOf(q, func(*cluster.Workload) bool { return true }); w != nil && a.Request.SharesDecide() {
		a.add(trace.FairShare, q, w)
	}
}

// holdsShort reports whether a node uses anything of what is short.
func (a *Asker) holdsShort(node int) bool { return a.short(a.View.AtFirst.Row(node)) }
