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
	soon      bool        // the request fits once they and what terminates in the room are gone
	// If there are no victims: what the attempts took in vain, in order.
	failed []failure
}

// failure is an attempt that took all it could in vain.
type failure struct {
	borrowing bool
	taken     []Candidate
}

// search makes the documented search. It takes candidates in order. If that takes a workload that does not leave
// already, and what leaves is enough, what leaves is the answer.
func (q *searcher) search(list []Candidate) found {
	f := q.searchIn(list)
	if !allLeave(f.victims) {
		if taken, soon := q.Leaving(); taken != nil || soon {
			return found{victims: taken, borrowing: true, soon: soon}
		}
	}
	return f
}

func (q *searcher) searchIn(list []Candidate) (f found) {
	for _, borrowing := range q.Attempts(list) {
		var taken []Candidate
		ok := false
		if q.fair() {
			ok = q.fairAttempt(list, &taken)
		} else {
			ok = q.attempt(list, &taken, borrowing)
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
	case q.Config.Compat.PreemptWithinNominal:
		return []bool{false}
	case !has(Hierarchical) && !has(ByPriority), forbidden && !under:
		return []bool{true}
	case forbidden && !has(Hierarchical):
		return []bool{false, true}
	}
	return []bool{true, false}
}

// attempt takes candidates in order until the request fits. What it took stays taken.
func (q *searcher) attempt(list []Candidate, taken *[]Candidate, borrowing bool) bool {
	for _, c := range q.inAttempt(list, borrowing) {
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

// Leaving takes what leaves already, in order, until the request fits, and puts back, latest first, what is not needed;
// nil: it is not enough. If it is only without what terminates in the room, that is awaited, too (soon). Then nothing
// else is told to stop.
func (q *searcher) Leaving() (taken []Candidate, soon bool) {
	var list []Candidate
	for _, r := range q.Running {
		if c, ok := q.RightOfLeaving(r); ok && r.Evicted && q.Uses(r, -1) {
			list = append(list, c)
		}
	}
	list = q.sorted(list)
	if taken = q.leavingOf(list, false); taken != nil {
		return taken, false
	}
	if q.Enough(true) {
		return nil, true
	}
	taken = q.leavingOf(list, true)
	return taken, taken != nil
}

// leavingOf takes what leaves, in order, until the request fits, and returns what is needed of it.
func (q *searcher) leavingOf(list []Candidate, soon bool) (taken []Candidate) {
	for _, c := range list {
		q.Take(c)
		if taken = append(taken, c); q.Enough(soon) {
			taken = q.spare(taken, func(c Candidate, _ []Candidate) bool {
				q.Return(c)
				defer q.Take(c)
				return q.Enough(soon)
			})
			q.Return(taken...)
			return taken
		}
	}
	q.Return(taken...)
	return nil
}

// allLeave reports whether all victims were told to stop before.
func allLeave(list []Candidate) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(c Candidate) bool { return !c.Evicted })
}

// Enough reports whether the request fits without what is taken; soon: and without what terminates in the room.
func (q *searcher) Enough(soon bool) bool {
	if !soon {
		return q.Fits(true)
	}
	room, ok := q.Request.Room.(preemption.LeavingRoom)
	return ok && q.fitsQuota(true) && room.FitsSoon()
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
		taken, _ := q.Leaving()
		return taken
	}
	return q.search(list).victims
}
