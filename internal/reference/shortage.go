package reference

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// shortages lists what the request lacks without what is taken, with the node of which the quota or limit is exceeded.
func (q *Question) shortages() (list []preemption.Shortage) {
	for _, a := range q.Asked {
		available, bound := q.Queue.Available(a.Column)
		s := preemption.Shortage{
			FlavorResource: q.tree.Columns[a.Column], Missing: quota.Sub(a.Amount, available), PotentialAvailable: q.Queue.potential(a.Column),
		}
		if a.Amount <= available {
			over := quota.Sub(quota.Add(q.Queue.Used[a.Column], a.Amount), q.Queue.Quotas[a.Column].Nominal)
			// A workload that never preempts may borrow.
			if over <= 0 || q.Request.Workload.NeverPreempts || !q.StaysNominal(a.Column, true) {
				continue
			}
			s.Missing = over
		} else if bound.Queue == nil {
			s.Cohort = bound.Name
		}
		list = append(list, s)
	}
	return list
}

// refuse says what is short if no attempt found victims, and what stands in the way. It takes in turn: all workloads
// of a permitted priority in queues that borrow anything; of these, the workloads in queues that borrow what needs
// preemption; the victims of an attempt that may borrow. What is short without the first of these that is not enough
// is the answer.
func (q *Question) refuse(answer *Answer, failed []failure) {
	noted := false
	for _, f := range failed {
		q.Take(f.taken...)
		answer.NoRoom = answer.NoRoom || q.fitsQuota(f.borrowing) // then the room has no place
		q.Return(f.taken...)
		if noted || !f.borrowing && !q.Config.Compat.PreemptWithinNominal {
			continue
		}
		noted = true
		inReach, permitted := q.ofPermittedPriority()
		for _, gone := range [][]Candidate{inReach, permitted, f.taken} {
			q.Take(gone...)
			enough := q.fitsQuota(true)
			answer.Shortage = q.shortages()
			q.Return(gone...)
			if !enough {
				break
			}
		}
	}
	if answer.NoRoom {
		answer.Shortage = nil
	}
	answer.Blockers = q.blockers(answer.Shortage, nil)
}

// ofPermittedPriority lists the workloads of a priority that the policies permit if the request may borrow, whatever
// else protects them: in queues that borrow anything, and in queues that borrow what needs preemption.
func (q *Question) ofPermittedPriority() (inReach, permitted []Candidate) {
	for _, r := range q.Running {
		if neverYields(r) || inactive(r.At) {
			continue
		}
		if r.At == q.Queue {
			if q.mayOfPriority(r) {
				c := Candidate{Running: r, PodSet: -1}
				inReach, permitted = append(inReach, c), append(permitted, c)
			}
			continue
		}
		c := q.reclaimed(r)
		if c.Cohort == nil || !q.reclaims(r.Workload) || !q.Permits(c, true) || !borrowsUpTo(r.At, c.Cohort, q.tree.all) {
			continue
		}
		if inReach = append(inReach, c); q.reached(r.At, c.Cohort) {
			permitted = append(permitted, c)
		}
	}
	return inReach, permitted
}

// refuseByRules says what is short if rules stand in for the policies and found no victims.
func (q *Question) refuseByRules(answer *Answer, b ByRules) {
	if over := func(a Amount) bool { return a.Amount > q.Queue.potential(a.Column) }; slices.ContainsFunc(q.Asked, over) {
		answer.Shortage, answer.NoRoom = q.shortages(), false
		return
	}
	q.Take(b.failed...)
	answer.NoRoom = q.fitsQuota(true)
	q.Return(b.failed...)
	taken := b.failed
	ofAll := func(n, cohort *Node) bool { return borrowsUpTo(n, cohort, q.tree.all) }
	for _, reaches := range []func(n, cohort *Node) bool{q.reached, ofAll} { // the latter is asked first
		sum := q.sumByRules(reaches)
		if q.Take(sum...); !q.fitsQuota(true) {
			taken = sum
		}
		q.Return(sum...)
	}
	q.Take(taken...)
	answer.Shortage = q.shortages()
	q.Return(taken...)
}
