package fairshare

import (
	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/entitled"
	"github.com/cedesched/cede/quota"
)

// ServedNext returns the place in a list of what KAI serves next; -1 for an empty list. The list has of each queue what its best
// workload starts with: of several of a queue the first counts. From the roots down the first of the siblings is taken:
//
//  1. one that does not hold more than its fair share of every resource,
//  2. one that with what it is served is within its quotas,
//  3. of higher priority,
//  4. one that then holds nothing of which nothing is allocatable to it,
//  5. of which the largest part that it then holds of what is allocatable is smaller,
//  6. likewise of what it holds now,
//  7. to which less is allocatable,
//  8. the older, then the smaller name. (KAI leaves equal ages to the order of a map.)
//
// ServedNext fails as [Reclaim.May] does.
func (r *Reclaim) ServedNext(waiting []Reclaimer) (int, error) {
	units := make([]Unit, len(waiting))
	for i, w := range waiting {
		units[i] = Unit{Queue: w.Queue, Usage: w.Requests}
	}
	return r.first(units, nil, func(held, next, _ int64) (with, then int64) {
		with = quota.Add(held, next)
		return with, with
	}, 1)
}

// YieldsNext returns the place in a list of candidates of the one that yields next; -1 for an empty list. The list has of each queue what
// is left of the workload that yields next there. gone has what counts as gone already: KAI counts with each part of a workload that
// yields all that is left of it, and of a queue with others below it only what is gone of that which is next. The order is the reverse of that of [Reclaim.ServedNext], by what queues hold now; in 5 counts what
// they hold without what is gone, and what is next. YieldsNext fails as [Reclaim.Candidate] does.
func (r *Reclaim) YieldsNext(gone, candidates []Unit) (int, error) {
	return r.first(candidates, gone, func(held, next, gone int64) (with, then int64) {
		return held, quota.Sub(held, quota.Add(gone, next))
	}, -1)
}

// turn is a search for what comes first.
type turn struct {
	*Reclaim
	list   []unit
	first  []int     // by queue, the place of its first unit; -1: it has none
	gone   [][]int64 // by queue and resource
	stands func(held, next, gone int64) (with, then int64)
	sign   int
}

// first returns the place of the unit that comes first, or, with the sign -1, last.
func (r *Reclaim) first(units, gone []Unit, stands func(held, next, gone int64) (with, then int64), sign int) (int, error) {
	var faults fault.List
	t := turn{Reclaim: r, list: r.units(&faults, "units", units), stands: stands, sign: sign, gone: make([][]int64, r.division.queues.Len())}
	left := r.units(&faults, "gone", gone)
	if err := faults.Err(); err != nil {
		return -1, err
	}
	for range r.division.queues.Len() {
		t.first = append(t.first, -1)
	}
	for i := len(units) - 1; i >= 0; i-- {
		path := t.list[i].path
		t.first[path[len(path)-1]] = i
	}
	for q := range t.gone {
		t.gone[q] = make([]int64, len(r.division.tree.Resources))
	}
	for _, u := range left {
		for i, amount := range u.usage {
			own := t.gone[u.path[len(u.path)-1]]
			own[i] = quota.Add(own[i], amount)
		}
	}
	return t.below(r.division.roots), nil
}

// below returns the place of the first unit below siblings, or in them; -1: there is none.
func (t *turn) below(siblings []int) int {
	best, at := -1, -1
	var standing entitled.Standing
	for _, q := range siblings {
		unit := t.first[q]
		if unit < 0 {
			unit = t.below(t.division.below(q))
		}
		if unit < 0 {
			continue
		}
		if s := t.standing(q, unit); best < 0 || t.sign*t.queues.Compare(q, at, &s, &standing) < 0 {
			best, at, standing = unit, q, s
		}
	}
	return best
}

// standing says how a queue stands of which a unit is the first.
func (t *turn) standing(q, unit int) entitled.Standing {
	s := entitled.Stand()
	path := t.list[unit].path
	for i := range t.division.tree.Resources {
		held := t.held(q, i)
		with, then := t.stands(held, t.list[unit].usage[i], t.gone[path[len(path)-1]][i])
		s.Count(t.queues, q, i, held, with, then)
	}
	return s
}
