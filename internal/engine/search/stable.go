package search

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

// stability is what the rule needs to know of the cluster. It is found when it is first asked
// for, and nothing that a search takes changes it.
type stability struct {
	known bool
	// needed: without the rule there may be circles.
	needed bool
	// borrows: the request would be a borrower.
	borrows   bool
	sorted    map[int]bool // the queues of which all borrowers are known
	borrowers map[*cluster.Workload]bool
	// before and asks are the shares of the preemptor's queue without and with the request,
	// of workloads with at least its priority.
	before, asks quota.Share
	sum, gone    []quotatree.Load
	taken        []Victim
}

// refuses reports whether the rule keeps a workload of a queue from yielding, whoever else
// yields. Who is leaving already and who yields to an equal because its time is over never
// takes its place back.
func (s *Search) refuses(q int, w *cluster.Workload) bool {
	if !s.Request.Fair.Stable || s.leavesAnyway(q, w) {
		return false
	}
	st := s.stable()
	if !st.needed {
		return false
	}
	r := s.Request
	before := w.Priority > r.Priority || w.Priority == r.Priority && instant.Rank(w.Queued) <= instant.Rank(r.Queued)
	switch {
	case !st.borrows:
		return before && !s.borrower(q, w)
	case q == r.Queue && before, w.Priority > r.Priority:
		return true
	}
	return !s.borrower(q, w)
}

func (s *Search) leavesAnyway(q int, w *cluster.Workload) bool {
	return w.Facts.Evicted || q == s.Request.Queue && w.Priority == s.Request.Priority && s.expired(w)
}

// MayTake reports whether the victims taken so far and one more, which is still there, leave
// the shares as stable fair sharing wants them. Of victims that may be taken any part may be
// taken.
//
// It is about equals of a request that borrows, and counts workloads of at least their
// priority. With the request and without the victims, the share of the preemptor's queue is
// no smaller than before, and if equals of other queues yield, it is larger than before; it
// is, even if nobody yields in the own queue, at most that of each queue in which equals yield.
// Who leaves anyway counts as being there: he may go last.
func (s *Search) MayTake(v *Victim) bool {
	if !s.Request.Fair.Stable || v.Workload.Priority != s.Request.Priority || s.leavesAnyway(v.Queue, v.Workload) {
		return true
	}
	st := s.stable()
	if !st.needed || !st.borrows {
		return true
	}
	st.taken = append(st.taken[:0], *v)
	others := v.Queue != s.Request.Queue
	for i := range s.Taken {
		if t := &s.Taken[i]; !s.leavesAnyway(t.Queue, t.Workload) {
			st.taken = append(st.taken, *t)
			others = others || t.Queue != s.Request.Queue && t.Workload.Priority == s.Request.Priority
		}
	}
	change := s.importantShare(s.Request.Queue, true).Compare(st.before)
	if change < 0 || change == 0 && others {
		return false
	}
	return v.Queue == s.Request.Queue || st.asks.Compare(s.importantShare(v.Queue, false)) <= 0
}

// stable finds what the rule needs.
func (s *Search) stable() *stability {
	st := &s.stability
	if st.known {
		return st
	}
	st.known, st.needed = true, s.mayCircle()
	if !st.needed {
		return st
	}
	if st.sorted == nil {
		st.sorted, st.borrowers = map[int]bool{}, map[*cluster.Workload]bool{}
	}
	clear(st.sorted)
	clear(st.borrowers)
	s.findBorrowers(s.Request.Queue)
	st.taken = st.taken[:0]
	st.before, st.asks = s.importantShare(s.Request.Queue, false), s.importantShare(s.Request.Queue, true)
	return st
}

// mayCircle reports whether workloads may evict each other in a circle without the rule. If
// all queues of the tree reclaim from lower priorities only, each victim comes after its
// preemptor in one order of all workloads.
func (s *Search) mayCircle() bool {
	root := s.View.Tree.Root(s.Request.Queue)
	if s.Request.NewerByReservation || root == s.Request.Queue {
		return s.Request.NewerByReservation
	}
	found := false
	s.Cluster.EachQueueUnder(root, -1, func(int) bool { return true }, func(q int) bool {
		found = s.Cluster.Queue(q).Preemption.ReclaimWithinCohort == queue.Any
		return !found
	})
	return found
}

// borrower reports whether a workload of a queue is a borrower.
func (s *Search) borrower(q int, w *cluster.Workload) bool {
	if !s.stability.sorted[q] {
		s.findBorrowers(q)
	}
	return s.stability.borrowers[w]
}

// firstUnstable returns the first workload of the own queue that uses what is short and that
// the policy permits, but the rule keeps: always, or as the only victim. Nil: there is none.
func (s *Search) firstUnstable(q int) *cluster.Workload {
	p := s.Permission(Own, false)
	if !s.Request.Fair.Stable || p == Nobody {
		return nil
	}
	running := s.Cluster.Running(q)
	return s.firstUser(func(lane cluster.Lane) *cluster.Workload {
		return s.firstKeptIn(running.Lane(lane), Own, p, func(w *cluster.Workload) bool {
			return s.refuses(q, w) || !s.MayTake(&Victim{Workload: w, Set: -1, Count: 1, Cohort: -1, Queue: q})
		})
	})
}

// findBorrowers finds the borrowers of a queue; of the own one also whether the request is one.
func (s *Search) findBorrowers(q int) {
	st := &s.stability
	st.sorted[q] = true
	list := slices.Collect(s.Cluster.Running(q).Whole)
	s.Steps += len(list)
	slices.SortFunc(list, func(a, b *cluster.Workload) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(instant.Rank(a.Queued), instant.Rank(b.Queued)), cluster.CompareIDs(a, b))
	})
	r := s.Request
	st.sum = st.sum[:0]
	asked := q != r.Queue
	for _, w := range list {
		if !asked && (w.Priority < r.Priority || w.Priority == r.Priority && instant.Rank(w.Queued) > instant.Rank(r.Queued)) {
			asked, st.borrows = true, !s.requestIsNominal()
		}
		if s.fitsNominal(q, w.Loads) {
			st.sum = quotatree.AddLoads(st.sum, w.Loads)
		} else {
			st.borrowers[w] = true
		}
	}
	if !asked {
		st.borrows = !s.requestIsNominal()
	}
}

// fitsNominal reports whether loads fit in the nominal quota of a queue beside the sum.
func (s *Search) fitsNominal(q int, loads []quotatree.Load) bool {
	for _, l := range loads {
		if l.Amount > 0 && quota.Add(quotatree.AmountIn(s.stability.sum, l.Column), l.Amount) > s.View.Tree.Cell(q, l.Column).Nominal {
			return false
		}
	}
	return true
}

// requestIsNominal is fitsNominal for the request.
func (s *Search) requestIsNominal() bool {
	cells := s.View.Cells(s.Request.Queue)
	for slot, amount := range s.Request.Amounts {
		if held := quotatree.AmountIn(s.stability.sum, s.Request.Columns[slot]); amount > 0 && quota.Add(held, amount) > cells[slot].Nominal {
			return false
		}
	}
	return true
}

// importantShare returns the share of a queue without the workloads of lower priority than
// the request and without those in stability.taken; with the request if asked is set.
func (s *Search) importantShare(q int, asked bool) quota.Share {
	st := &s.stability
	st.gone = st.gone[:0]
	running := s.Cluster.Running(q)
	for lane := range cluster.WholeLanes {
		running.Lane(lane).Sum(&st.gone, func(w *cluster.Workload) bool { return w.Priority < s.Request.Priority })
	}
	for i := range st.taken {
		v := &st.taken[i]
		switch {
		case v.Queue != q || v.Workload.Priority < s.Request.Priority:
		case v.Set < 0:
			st.gone = quotatree.AddLoads(st.gone, v.Workload.Loads)
		case !GoesWhole(v.Workload, st.taken):
			for _, l := range v.Workload.Surplus[v.Set].Loads {
				st.gone = quotatree.AddLoads(st.gone, []quotatree.Load{{Column: l.Column, Amount: quota.Mul(v.Count, l.Amount)}})
			}
		}
	}
	return s.View.Tree.Share(q, func(column int) int64 {
		used := quota.Sub(s.View.AtFirst.At(q, column), quotatree.AmountIn(st.gone, column))
		if slot := s.View.Slot(column); asked && slot >= 0 && slot < len(s.Request.Amounts) {
			used = quota.Add(used, s.Request.Amounts[slot])
		}
		return used
	}).Share
}
