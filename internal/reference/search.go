package reference

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// searcher makes the documented search by the policies.
type searcher struct{ sharing }

// Candidates lists what may yield now, in order: each replica of a surplus, and workloads as a whole.
func (q *searcher) Candidates() (list []Candidate) {
	for _, r := range q.Running {
		if c, ok := q.Right(r); ok && q.Uses(r, -1) && !q.Guarded(r) && !q.Unstable(r) {
			list = append(list, q.Units(c, !q.Protected(r))...)
		}
	}
	return q.sorted(list)
}

// Units lists what a workload may give by a right: each replica of its surplus that uses what needs preemption, and
// the whole.
func (q *searcher) Units(c Candidate, whole bool) (list []Candidate) {
	for c.PodSet = len(c.PodSets) - 1; c.PodSet >= 0; c.PodSet-- {
		for n := c.PodSets[c.PodSet].Surplus(); n > 0 && !c.Evicted && q.Uses(c.Running, c.PodSet); n-- {
			list = append(list, c)
		}
	}
	if whole {
		list = append(list, c) // of pod set -1
	}
	return list
}

// found is what the search by the policies comes to. It leaves nothing taken.
type found struct {
	victims   []Candidate // in the order in which they were chosen; nil: none make room
	borrowing bool        // the attempt let the request take its queue over its nominal quota
	// If there are no victims: what the attempts took in vain, in order.
	failed []failure
}

// failure is an attempt that took all it could in vain.
type failure struct {
	borrowing bool
	taken     []Candidate
}

// search makes the documented search. It takes candidates in order. If that takes a workload that does not leave
// already, and what leaves is enough, what leaves is the answer. If nothing is found and the configuration says so,
// it searches again with the largest first. With inOrder it makes only the first search.
func (q *searcher) search(list []Candidate, inOrder bool) found {
	f := q.searchIn(list, false)
	if !inOrder && !allLeave(f.victims) {
		if alone := q.leavingAlone(list); alone.victims != nil {
			return alone
		}
	}
	if f.victims != nil || !q.Config.ReconsiderLarger {
		return f
	}
	larger := q.searchIn(q.bySize(list), true)
	larger.failed = append(f.failed, larger.failed...)
	return larger
}

// allLeave reports whether all victims were told to stop before.
func allLeave(list []Candidate) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(c Candidate) bool { return !c.Evicted })
}

func (q *searcher) searchIn(list []Candidate, largestFirst bool) (f found) {
	for _, borrowing := range q.Attempts(list) {
		var taken []Candidate
		ok := false
		if q.fair() {
			ok = q.fairAttempt(list, &taken, largestFirst)
		} else {
			ok = q.attempt(list, &taken, borrowing, largestFirst)
		}
		if ok {
			taken = q.putBack(taken, borrowing)
		}
		q.Return(taken...)
		if ok {
			return found{victims: taken, borrowing: borrowing}
		}
		f.failed = append(f.failed, failure{borrowing, taken})
	}
	return f
}

// Attempts says with which permissions victims are searched for, one after the other: true lets the request take its
// queue over its nominal quota.
func (q *searcher) Attempts(list []Candidate) []bool {
	has := func(k Class) bool { return slices.ContainsFunc(list, func(c Candidate) bool { return c.Class == k }) }
	forbidden := q.policy.BorrowWithinCohort.Policy == queue.Never
	under := !slices.ContainsFunc(q.Needed, func(c Column) bool { return q.Queue.Used[c] >= q.Queue.Quotas[c].Nominal })
	switch {
	case q.fair():
		return []bool{true}
	case q.Config.PreemptWithinNominal:
		return []bool{false}
	case !has(Hierarchical) && !has(ByPriority), forbidden && !under:
		return []bool{true}
	case forbidden && !has(Hierarchical):
		return []bool{false, true}
	}
	return []bool{true, false}
}

// attempt takes candidates in order until the request fits. What it took stays taken.
func (q *searcher) attempt(list []Candidate, taken *[]Candidate, borrowing, largestFirst bool) bool {
	for _, c := range q.inAttempt(list, borrowing, largestFirst) {
		if !q.MayBeTaken(c, borrowing) || q.Limited(*taken, c) {
			continue
		}
		q.Take(c)
		if *taken = append(*taken, c); q.Fits(borrowing) {
			return true
		}
	}
	return false
}

// putBack puts back, latest first, each victim that is not needed. All are taken when it begins; the victims that it
// returns stay taken. It is repeated: where shares are checked again, a victim that is put back may justify another.
func (q *searcher) putBack(taken []Candidate, borrowing bool) []Candidate {
	return q.spare(taken, func(c Candidate, rest []Candidate) bool { return q.CanStay(c, rest, borrowing) })
}

// CanStay reports whether the request fits, by the same rights, if one victim stays and the rest goes. All are taken.
func (q *searcher) CanStay(c Candidate, rest []Candidate, borrowing bool) bool {
	if c.GoesWhole(rest) {
		return false
	}
	q.Return(c)
	defer q.Take(c)
	return q.Fits(borrowing) && (!q.fair() || !q.Rechecks() || q.Unjustified(rest) == nil)
}

// spare returns, latest first, each victim but the last that can stay, until none can.
func (q *searcher) spare(taken []Candidate, canStay func(c Candidate, rest []Candidate) bool) []Candidate {
	for before := -1; before != len(taken); {
		before = len(taken)
		for i := len(taken) - 2; i >= 0; i-- {
			if c, rest := taken[i], slices.Delete(slices.Clone(taken), i, i+1); canStay(c, rest) {
				q.Return(c)
				taken = rest
			}
		}
	}
	return taken
}

// leavingAlone takes what leaves already, in order, until the request fits, and puts back, latest first, what is not
// needed. Then nothing else is told to stop.
func (q *searcher) leavingAlone(list []Candidate) found {
	for _, borrowing := range q.Attempts(list) {
		var taken []Candidate
		for _, c := range q.inAttempt(list, borrowing, false) {
			if !c.Evicted {
				continue
			}
			if c.Class != OwnQueue && q.fair() && !q.EntitledAtFirst {
				c.Reason = preemption.InCohortFairSharing
			}
			q.Take(c)
			if taken = append(taken, c); !q.Fits(borrowing) {
				continue
			}
			taken = q.spare(taken, func(c Candidate, _ []Candidate) bool {
				q.Return(c)
				defer q.Take(c)
				return q.Fits(borrowing)
			})
			q.Return(taken...)
			return found{victims: taken, borrowing: borrowing}
		}
		q.Return(taken...)
	}
	return found{}
}

// Search returns the victims of the documented search by the policies, in the order in which they are chosen; nil if
// there are none. It does not search if the request does not fit even without all candidates.
func (q *searcher) Search() []Candidate {
	if q.Request.Workload.NeverPreempts {
		return nil
	}
	list := q.Candidates()
	q.Take(list...)
	hopeless := !q.Fits(true)
	q.Return(list...)
	if hopeless {
		return nil
	}
	return q.search(list, false).victims
}
