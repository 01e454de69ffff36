package right

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Stable fair sharing refuses victims so that no decisions, one after the other, evict in a
// circle. docs/stability.md has the rule and the proof.
//
// In each queue workloads come by priority, then by queue-order timestamp. One that does not
// fit in the nominal quota of the queue beside those before it that do is a borrower.

// refuses reports whether the rule keeps a workload of a queue from yielding, whatever other
// workloads yield. A workload that is leaving already, and one that yields to an equal because its
// time is over, never takes its place back.
func (c *Case) refuses(q int, w *cluster.Workload) bool {
	if !c.Request.Fair.Stable || c.leavesAlready(q, w) {
		return false
	}
	st := c.stable()
	if !st.needed {
		return false
	}
	r := c.Request
	before := w.Priority > r.Priority || w.Priority == r.Priority && instant.Rank(w.Queued) <= instant.Rank(r.Queued)
	switch {
	case !st.borrows:
		return before && !c.borrower(q, w)
	case q == r.Queue && before, w.Priority > r.Priority:
		return true
	}
	return !c.borrower(q, w)
}

func (c *Case) leavesAlready(q int, w *cluster.Workload) bool {
	return w.Facts.Evicted || q == c.Request.Queue && w.Priority == c.Request.Priority && c.Expired(w)
}

// MayTake reports whether the victims taken so far and one more, which is still there, leave
// the shares as stable fair sharing wants them. Every subset of an acceptable set is acceptable.
//
// The rule is about equals of a request that borrows, and counts workloads of at least their
// priority. With the request and without the victims, the share of the preemptor's queue is
// no smaller than before. If equals of other queues yield, it is larger than before. And it
// is, even without victims in the own queue, at most the share of each queue in which equals
// yield. A workload that is leaving already counts as present: it may leave last.
func (c *Case) MayTake(v *Victim) bool {
	if !c.Request.Fair.Stable || v.Workload.Priority != c.Request.Priority || c.leavesAlready(v.Queue, v.Workload) {
		return true
	}
	st := c.stable()
	if !st.needed || !st.borrows {
		return true
	}
	st.taken = append(st.taken[:0], *v)
	others := v.Queue != c.Request.Queue
	for i := range c.Taken {
		if t := &c.Taken[i]; !c.leavesAlready(t.Queue, t.Workload) {
			st.taken = append(st.taken, *t)
			others = others || t.Queue != c.Request.Queue && t.Workload.Priority == c.Request.Priority
		}
	}
	change := importantShare(c, c.Request.Queue, true).Compare(st.before)
	if change < 0 || change == 0 && others {
		return false
	}
	return v.Queue == c.Request.Queue || st.asks.Compare(importantShare(c, v.Queue, false)) <= 0
}

// stable finds what the rule needs.
func (c *Case) stable() *stability {
	st := &c.stability
	if st.known {
		return st
	}
	st.known, st.needed = true, mayCircle(c)
	if !st.needed {
		return st
	}
	if st.sorted == nil {
		st.sorted, st.borrowers = map[int]bool{}, map[*cluster.Workload]bool{}
	}
	clear(st.sorted)
	clear(st.borrowers)
	c.findBorrowers(c.Request.Queue)
	st.taken = st.taken[:0]
	st.before, st.asks = importantShare(c, c.Request.Queue, false), importantShare(c, c.Request.Queue, true)
	return st
}

// mayCircle reports whether workloads may evict each other in a circle without the rule. If
// all queues of the tree reclaim from lower priorities only, each victim comes after its
// preemptor in one order of all workloads, so there is no circle.
func mayCircle(c *Case) bool {
	root := c.View.Tree.Root(c.Request.Queue)
	if root == c.Request.Queue {
		return false
	}
	found := false
	c.Cluster.EachQueueUnder(root, -1, func(int) bool { return true }, func(q int) bool {
		found = c.Cluster.Queue(q).Preemption.ReclaimWithinCohort == queue.Any
		return !found
	})
	return found
}

// borrower reports whether a workload of a queue is a borrower.
func (c *Case) borrower(q int, w *cluster.Workload) bool {
	if !c.stability.sorted[q] {
		c.findBorrowers(q)
	}
	return c.stability.borrowers[w]
}

// findBorrowers finds the borrowers of a queue; of the own one also whether the request is one.
func (c *Case) findBorrowers(q int) {
	st := &c.stability
	st.sorted[q] = true
	list := slices.Collect(c.Cluster.Running(q).Whole)
	c.Steps += len(list)
	slices.SortFunc(list, func(a, b *cluster.Workload) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(instant.Rank(a.Queued), instant.Rank(b.Queued)), cluster.CompareIDs(a, b))
	})
	r := c.Request
	st.sum = st.sum[:0]
	asked := q != r.Queue
	for _, w := range list {
		if !asked && (w.Priority < r.Priority || w.Priority == r.Priority && instant.Rank(w.Queued) > instant.Rank(r.Queued)) {
			asked, st.borrows = true, !requestIsNominal(c)
		}
		if fitsNominal(c, q, w.Loads) {
			st.sum = quotatree.AddLoads(st.sum, w.Loads)
		} else {
			st.borrowers[w] = true
		}
	}
	if !asked {
		st.borrows = !requestIsNominal(c)
	}
}

// fitsNominal reports whether loads fit in the nominal quota of a queue beside the sum.
func fitsNominal(c *Case, q int, loads []quotatree.Load) bool {
	for _, l := range loads {
		if l.Amount > 0 && quota.Add(quotatree.AmountIn(c.stability.sum, l.Column), l.Amount) > c.View.Tree.Cell(q, l.Column).Nominal {
			return false
		}
	}
	return true
}

// requestIsNominal is fitsNominal for the request.
func requestIsNominal(c *Case) bool {
	cells := c.View.Cells(c.Request.Queue)
	for slot, amount := range c.Request.Amounts {
		if held := quotatree.AmountIn(c.stability.sum, c.Request.Columns[slot]); amount > 0 && quota.Add(held, amount) > cells[slot].Nominal {
			return false
		}
	}
	return true
}

// importantShare returns the share of a queue without the workloads of lower priority than
// the request and without those in stability.taken; with the request if asked is set.
func importantShare(c *Case, q int, asked bool) quota.Share {
	st := &c.stability
	st.gone = st.gone[:0]
	running := c.Cluster.Running(q)
	for lane := range cluster.WholeLanes {
		running.Lane(lane).Sum(&st.gone, func(w *cluster.Workload) bool { return w.Priority < c.Request.Priority })
	}
	for i := range st.taken {
		v := &st.taken[i]
		switch {
		case v.Queue != q || v.Workload.Priority < c.Request.Priority:
		case v.Set < 0:
			st.gone = quotatree.AddLoads(st.gone, v.Workload.Loads)
		case !GoesWhole(v.Workload, st.taken):
			for _, l := range v.Workload.Surplus[v.Set].Loads {
				st.gone = quotatree.AddLoads(st.gone, []quotatree.Load{{Column: l.Column, Amount: quota.Mul(v.Count, l.Amount)}})
			}
		}
	}
	return c.View.Tree.Share(q, func(column int) int64 {
		used := quota.Sub(c.View.AtFirst.At(q, column), quotatree.AmountIn(st.gone, column))
		if slot := c.View.Slot(column); asked && slot >= 0 && slot < len(c.Request.Amounts) {
			used = quota.Add(used, c.Request.Amounts[slot])
		}
		return used
	}).Share
}
