package packing

import (
	"math"
	"slices"
)

// Solver finds answers. The zero value is ready. It may be reused, by one goroutine at a time.
type Solver struct {
	progress
	cover   cover
	options [][]option // by node
	states  int
	stride  []int // by kind
	cells   [2][]cell
	from    []int32 // by node and state: the option that leads there
	choice  []int   // by node
	last    int     // so many nodes may be looked at
	fixed   bool    // the places are the known ones
	joint   int     // units on several nodes
	first   bool    // the first answer will do
	better  bool
	limit   cost
	floor   cost
	best    Answer
}

// Result is an answer with its proof.
type Result struct {
	// Answer is better than the known one; nil: no better one was found.
	Answer *Answer
	// Bound: no answer has a better score. If it is not better than the score of the answer, or of the known one,
	// that answer is the best. None: there is no answer at all.
	Bound Score
	None  bool
	Nodes int
}

// Solve looks for the best answer.
func (x *Solver) Solve(p *Problem) Result {
	x.begin(p)
	x.count = 0
	r, ok := x.solve()
	if !ok {
		r = x.solveAlike(p)
	}
	r.Nodes = x.count
	x.p, x.options, x.best = nil, nil, Answer{}
	return r
}

// solveAlike is for a problem with too many kinds. The places are the known ones, and the bound is that of a problem
// in which each pod is as small as the smallest.
func (x *Solver) solveAlike(p *Problem) Result {
	easier := *p
	easier.Kinds, easier.Known, easier.MaxNodes = []Kind{smallest(p)}, nil, p.MaxNodes/2
	x.begin(&easier)
	r, ok := x.solve()
	if r.Answer = nil; !ok || r.None || p.Known == nil {
		return r
	}
	x.begin(p)
	x.fixed = true
	fixed, _ := x.solve()
	x.fixed = false
	return Result{Answer: fixed.Answer, Bound: r.Bound}
}

// smallest returns one kind for all pods: it needs the least of each slot, and may be where some kind may be.
func smallest(p *Problem) Kind {
	all := Kind{Needs: slices.Clone(p.Kinds[0].Needs), At: make([]Place, len(p.Free))}
	for _, k := range p.Kinds {
		all.Count += k.Count
		for slot, need := range k.Needs {
			all.Needs[slot] = min(all.Needs[slot], need)
		}
	}
	for node := range all.At {
		all.At[node].Barred = !slices.ContainsFunc(p.Kinds, func(k Kind) bool { return k.At == nil || !k.At[node].Barred })
	}
	return all
}

func (x *Solver) begin(p *Problem) {
	x.p, x.joint, x.fullCost = p, 0, false
	x.cover.x = &x.progress
	x.status = sized(x.status, len(p.Units))
	x.units = make([][]located, len(p.Free))
	for u := range p.Units {
		for i, part := range p.Units[u].Parts {
			x.units[part.Node] = append(x.units[part.Node], located{u, i})
		}
		if len(p.Units[u].Parts) > 1 {
			x.joint++
		}
	}
}

// unknown is the trivial bound: no score is better than that of no victims.
var unknown = NoVictims

// solve returns the result; ok is false if there are too many ways to place the pods.
func (x *Solver) solve() (r Result, ok bool) {
	p := x.p
	if !x.enumerate() {
		return Result{Bound: unknown}, false
	}
	x.parts = 1
	for _, list := range x.options {
		x.parts = min(x.parts+len(list), mostParts)
	}
	x.keep(func(u *Unit) bool { // a unit that alone is too much for a budget stays
		return !slices.ContainsFunc(u.Charges, func(c Charge) bool { return c.Pods > p.Left[c.Budget] })
	})
	switch exists, sure := x.exists(); {
	case !exists && sure:
		return Result{None: true, Bound: unknown}, true
	case !exists:
		return Result{Bound: unknown}, true
	}
	bound := unknown
	least, proven := x.leastViolations()
	bound.Violations = least
	if proven {
		bound.Highest, proven = x.leastHighest(least)
	} else {
		x.leastHighest(least)
	}
	limit := endless
	if p.Known != nil && x.allOpen(p.Known.Units) {
		limit = x.wholeOf(p.Known.Units)
	}
	best := x.cheapest(limit)
	if lower := x.lower(); proven && lower.violations == least { // with fewer violations a sum says nothing
		bound.Sum, bound.Pods = lower.sum, lower.pods
	}
	proven = proven && x.proven()
	if best == nil && limit != endless {
		best = p.Known
	}
	if best != nil && proven {
		best, bound.Started = x.latest(best)
	}
	r = Result{Bound: bound}
	if best != nil && (p.Known == nil || p.Score(best.Units).Compare(p.Score(p.Known.Units)) < 0) {
		r.Answer = best
	}
	return r, true
}

// mostParts keeps a question about one node from taking all nodes of the search.
const mostParts = 16

// keep makes the open units stay for which a condition does not hold. It returns them, for reopen.
func (x *Solver) keep(holds func(*Unit) bool) (closed []int) {
	for u := range x.p.Units {
		if x.status[u] == open && !holds(&x.p.Units[u]) {
			x.status[u] = out
			closed = append(closed, u)
		}
	}
	return closed
}

func (x *Solver) reopen(units []int) {
	for _, u := range units {
		x.status[u] = open
	}
}

func (x *Solver) allOpen(units []int) bool {
	return !slices.ContainsFunc(units, func(u int) bool { return x.status[u] != open })
}

func (x *Solver) wholeOf(units []int) (sum cost) {
	for _, u := range units {
		sum = sum.plus(x.p.Units[u].cost())
	}
	return sum
}

// lower returns a lower bound of the cost, after a search.
func (x *Solver) lower() cost {
	if x.floor.less(x.limit) {
		return x.floor
	}
	return x.limit
}

// exists reports whether there is an answer at all, of the open units. If not, sure says that this is certain.
func (x *Solver) exists() (found, sure bool) {
	if len(x.p.Left) > 0 {
		x.search(endless, true, true)
		return x.better, x.better || x.proven()
	}
	for node, list := range x.options {
		for n := range list {
			list[n].possible = x.cover.prepare(node, &list[n])
		}
	}
	_, found = x.spread(func(*option) cost { return cost{} })
	return found, true
}

// leastViolations finds the fewest violations, and leaves units with violations out if there are answers without
// them.
func (x *Solver) leastViolations() (least int64, proven bool) {
	violating := x.keep(func(u *Unit) bool { return u.Violations == 0 })
	if len(violating) == 0 {
		return 0, true
	}
	if found, _ := x.exists(); found {
		return 0, true
	}
	x.reopen(violating)
	limit := endless
	if x.p.Known != nil {
		limit = cost{violations: x.p.Score(x.p.Known.Units).Violations}
	}
	x.search(limit, false, false)
	return x.lower().violations, x.proven()
}

// leastHighest finds the answers, of those with a number of violations, in which the highest priority of a victim is
// least. It leaves out the units of higher priorities, and returns a lower bound of that priority.
func (x *Solver) leastHighest(violations int64) (bound int32, proven bool) {
	levels := []int32{}
	for u := range x.p.Units {
		if x.status[u] == open {
			levels = append(levels, x.p.Units[u].Priority)
		}
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	low, high, sure := 0, len(levels), 0 // with the units of high levels there is an answer; with fewer than sure there is none
	for low < high {
		middle := int(uint(low+high) >> 1)
		closed := x.keep(func(u *Unit) bool { return middle > 0 && u.Priority <= levels[middle-1] })
		found, certain := x.existsWith(violations)
		x.reopen(closed)
		switch {
		case found:
			high = middle
		case certain:
			low, sure = middle+1, max(sure, middle+1)
		default:
			low = middle + 1
		}
	}
	x.keep(func(u *Unit) bool { return high > 0 && u.Priority <= levels[high-1] })
	if bound = math.MinInt32; sure > 0 {
		bound = levels[sure-1]
	}
	return bound, sure == high
}

// existsWith reports whether there is an answer with a number of violations.
func (x *Solver) existsWith(violations int64) (found, sure bool) {
	if violations == 0 {
		return x.exists()
	}
	x.search(cost{violations: violations, pods: 1}, false, true)
	return x.better, x.better || x.proven()
}

// cheapest returns the cheapest answer of the open units below a limit; nil: none was found.
func (x *Solver) cheapest(limit cost) *Answer {
	if x.search(limit, true, false); !x.better {
		return nil
	}
	return x.copyOfBest()
}

func (x *Solver) copyOfBest() *Answer { return &Answer{x.best.Units, x.best.Places} }

// latest compares the answers that cost the same as one by the earliest start of a unit of the highest priority. It
// returns the answer where this is latest, and a bound of this start.
func (x *Solver) latest(of *Answer) (best *Answer, bound int64) {
	best = of
	score, limit := x.p.Score(of.Units), x.wholeOf(of.Units)
	limit.pods++
	var starts []int64
	for u := range x.p.Units {
		if unit := &x.p.Units[u]; x.status[u] == open && unit.Priority == score.Highest && unit.Started > score.Started {
			starts = append(starts, unit.Started)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	low, high, sure := 0, len(starts), len(starts) // from sure on there is none
	for low < high {
		middle := int(uint(low+high) >> 1)
		closed := x.keep(func(u *Unit) bool { return u.Priority < score.Highest || u.Started >= starts[middle] })
		x.search(limit, true, true)
		x.reopen(closed)
		switch {
		case x.better:
			best, low = x.copyOfBest(), middle+1
		case x.proven():
			high, sure = middle, min(sure, middle)
		default:
			high = middle
		}
	}
	if bound = x.p.Score(best.Units).Started; sure > low {
		bound = starts[sure-1]
	}
	return best, bound
}
