package reference

import "github.com/cedesched/cede/preemption"

// Exists reports whether some set of candidates is allowed; known is false if there are too many to try.
func (q *Question) Exists(mostTried int) (exists, known bool) {
	if q.Request.Workload.NeverPreempts {
		return false, true
	}
	x := q.Sets()
	if len(x.All) > mostTried {
		return false, false
	}
	for _, borrowing := range q.Attempts(x.All) {
		for _, fits := range x.Reach(borrowing) {
			exists = exists || fits
		}
	}
	return exists, true
}

// Sets are all sets of candidates. The bit of a candidate is that of its index.
type Sets struct {
	*Question
	All []Candidate
}

// Sets returns the sets of the candidates now.
func (q *Question) Sets() *Sets {
	x := &Sets{q, q.Candidates()}
	for i := range x.All {
		if x.All[i].Class != OwnQueue && q.fair() && !q.EntitledAtFirst {
			x.All[i].Reason = preemption.InCohortFairSharing
		}
	}
	return x
}

// Of lists the candidates of a set.
func (x *Sets) Of(set int) (list []Candidate) {
	for i, c := range x.All {
		if set>>i&1 == 1 {
			list = append(list, c)
		}
	}
	return list
}

// Reach finds, in one attempt, the sets that can be taken in some order: a set can if it can without one of its
// members, and that one may then be taken. It says of each whether the request fits without it.
func (x *Sets) Reach(borrowing bool) map[int]bool {
	reached, fit := make([]bool, 1<<len(x.All)), map[int]bool{}
	reached[0] = true
	for set := range reached {
		if !reached[set] {
			continue
		}
		taken := x.Of(set)
		x.Take(taken...)
		for i, c := range x.All {
			if next := set | 1<<i; next != set && !reached[next] && x.goesWith(i, set) && x.mayFollow(c, taken, borrowing) {
				reached[next] = true
			}
		}
		if set != 0 {
			fit[set] = x.Fits(borrowing)
		}
		x.Return(taken...)
	}
	return fit
}

// mayFollow reports whether a candidate may be taken after others.
func (x *Sets) mayFollow(c Candidate, taken []Candidate, borrowing bool) bool {
	return x.MayBeTaken(c, borrowing) && !x.Limited(taken, c) && x.KeepsShares(taken, c) &&
		(c.Reason != preemption.InCohortFairSharing || x.Passes(c))
}

// goesWith reports whether a candidate goes with a set: replicas of a pod set come in order, and no part goes with its
// whole workload.
func (x *Sets) goesWith(c, set int) bool {
	of := &x.All[c]
	for i := range x.All {
		o, taken := &x.All[i], set>>i&1 == 1
		switch {
		case o.ID != of.ID || i == c:
		case taken && !(o.Partial() && of.Partial()):
			return false
		case !taken && o.Same(*of) && i < c:
			return false
		}
	}
	return true
}
