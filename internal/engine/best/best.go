package best

import (
	"math"
	"slices"

	"github.com/cedesched/cede/internal/engine/best/lagrange"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
)

// Solver improves victims. The zero value is ready. It may be reused, by one goroutine at a
// time.
type Solver struct {
	problem    problem
	relaxation lagrange.Relaxation
	first      lagrange.Relaxation // of the first goal
	tree       tree
	list       []source.Candidate // of all attempts
	byKind     []int
	byRatio    []int
	settled    []settled
	exchanges  exchanges
	alone      bool           // exchanges alone improve the victims
	greedy     []right.Victim // of the search in order
	caps       []limit        // of greedy
	cut        bool           // there are more candidates than those listed
	priorities []int64
	nodes      int // of the search, so far
	maxSteps   int
	climbed    int      // units, over all steps along slopes
	history    *History // of an explanation
	last       []Unit   // the set that it ends with
}

// settled is an objective with the value that a set must not exceed.
type settled struct {
	of    objective
	value int64
}

// Proof says how good a set is.
type Proof struct {
	// Optimal: no allowed set is better. If there is no set: none is allowed.
	Optimal bool
	// Lost is the first objective of the set; Bound is what it is at least for any set.
	Lost, Bound int64
	// Steps is what the search has cost.
	Steps int
}

// Best replaces the victims by the best allowed set that it finds. found says that the search in order has
// taken some: without them exchanges alone have nothing to improve. It reports whether there are victims
// now, and returns how they came about if that is to be explained.
func (x *Solver) Best(s *search.Search, found bool) (bool, Proof, *History) {
	x.problem.s, x.alone = s, s.Request.Better.Steps < 0
	defer x.end()
	if found && x.isTooMuch() {
		if x.explains() {
			x.history = &History{TooMany: true}
		}
		return found, x.unproven(), x.history
	}
	s.Taken = replicaByReplica(s.Taken)
	if x.alone {
		if x.begins(s.Taken); x.oneIsBest() {
			return found, Proof{}, x.history
		}
	}
	x.begin()
	attempts, caps := []bool{s.Borrowing}, []limit(nil)
	if !x.alone {
		attempts = s.Attempts()
	}
	if found {
		caps = x.caps
	}
	best, proof := x.bestOf(attempts, caps, x.greedy)
	if best == nil && found && !x.alone { // what was put back had justified what remained
		best, proof = x.bestOf(attempts, nil, nil)
	}
	if !x.alone {
		x.begins(x.greedy)
	}
	if x.cut {
		proof.Optimal, proof.Bound = false, 0
	}
	kept := best == nil && found && (x.alone || x.cut)
	x.notesBest(best)
	if places, _ := x.placesOf(x.greedy); kept || best != nil && found && slices.Equal(best.places, places) {
		for i := range x.greedy {
			s.Take(x.greedy[i])
		}
	} else if best != nil {
		x.apply(best)
	}
	if kept && !x.alone {
		proof.Lost = x.unproven().Lost
	}
	return best != nil || kept, proof, x.history
}

// oneIsBest reports whether nothing is better than the victims, because they are one and all count alike.
func (x *Solver) oneIsBest() bool {
	s := x.problem.s
	return s.Request.Better.Cost == nil && len(s.Taken) == 1 && (s.Taken[0].Partial() || !source.AnyPart(&s.Case))
}

// Exists reports whether there is an allowed set, or may be one: the steps did not suffice.
func (x *Solver) Exists(s *search.Search) bool {
	x.problem.s, x.alone = s, false
	defer x.end()
	x.begin()
	for _, borrowing := range s.Attempts() {
		x.open(borrowing, nil)
		if x.searchAny(); x.tree.found || x.tree.stopped || x.cut {
			return true
		}
	}
	return false
}

// searchAny searches for any set.
func (x *Solver) searchAny() {
	x.settled = x.settled[:0]
	most := x.problem.ceiling()
	if most < noLimit {
		x.relax(victims, x.target(most+1))
		x.first.Copy(&x.relaxation)
	} else {
		x.withoutRows()
	}
	x.search(victims, most, noLimit, false, true)
}

// looksOfStep is how many looks at victims or units, and moves of them, count as a step beside the nodes of the
// search tree: they take about as long as a node.
const looksOfStep = 64

// Steps returns what the last search, or this one so far, has cost.
func (x *Solver) Steps() int { return x.nodes + (x.problem.moves+x.problem.looks)/looksOfStep }

// Looks returns what the last search has cost, its relaxations too, in looks at workloads: of searches in order these are the steps.
func (x *Solver) Looks() int { return x.Steps()*looksOfNode + x.climbed/climbedOfLook }

// A node of the search tree takes as long as so many looks at workloads, and one as long as so many units in a step along the slope.
const (
	looksOfNode   = 8
	climbedOfLook = 8
)

// begin puts the victims back, and lists the candidates.
func (x *Solver) begin() {
	s, better := x.problem.s, &x.problem.s.Request.Better
	x.greedy = append(x.greedy[:0], s.Taken...)
	x.caps = x.capsOf(x.greedy)
	s.PutAllBack()
	x.nodes, x.problem.moves, x.problem.looks, x.climbed, x.maxSteps = 0, 0, 0, 0, better.Steps
	most := x.mostCandidates()
	if x.alone {
		most = min(most, better.Candidates+2*s.Tried)
	}
	x.collect(most)
	if x.cut = !x.alone && len(x.list) == most; x.alone || x.cut {
		x.addMissing()
	}
}

// end drops the references to the cluster.
func (x *Solver) end() {
	x.problem.s, x.history, x.last = nil, nil, nil
	clear(x.list)
	clear(x.greedy)
	clear(x.problem.units)
}

// goals are the objectives, the most important first. An objective that is the same for all sets is
// left out.
func (x *Solver) goals(list []objective) []objective {
	r := x.problem.s.Request
	switch {
	case r.Better.Cost == nil:
		list = append(list, victims)
	case r.Better.FewestFirst:
		list = append(list, victims, lost)
	default:
		list = append(list, lost, victims)
	}
	if slices.ContainsFunc(x.list, func(c source.Candidate) bool { return c.Partial() }) {
		list = append(list, wholes, replicas)
	}
	if slices.ContainsFunc(x.list, func(c source.Candidate) bool { return c.Workload.Leaving > 0 }) {
		list = append(list, leaving)
	}
	return list
}

// bestOf returns the best set of the attempts; nil: there is none.
func (x *Solver) bestOf(attempts []bool, caps []limit, greedy []right.Victim) (best *solution, proof Proof) {
	proof = Proof{Optimal: true, Bound: noLimit}
	goals := x.goals(nil)
	for _, borrowing := range attempts {
		x.open(borrowing, caps)
		known, most := x.exchanged(goals, x.known(greedy)), noLimit
		if best != nil {
			most = best.values[goals[0]]
		}
		found, bound, optimal := x.bestIn(goals, known, most)
		proof.Optimal = proof.Optimal && optimal
		if !optimal {
			proof.Bound = min(proof.Bound, bound)
		}
		if found != nil && (best == nil || found.compare(best, goals) < 0) {
			best = found
		}
	}
	if best != nil {
		proof.Lost = best.values[goals[0]]
		proof.Bound = min(proof.Bound, proof.Lost)
	}
	proof.Steps = x.Steps()
	return best, proof
}

// bestIn returns the best set of the attempt that is open, if its first objective is at most
// as large as given. known is a set of units that is allowed, or nil. If the steps do not
// suffice, bound is that of the first objective.
func (x *Solver) bestIn(goals []objective, known []int, most int64) (best *solution, bound int64, optimal bool) {
	p := &x.problem
	if x.alone && known != nil {
		return x.solution(known), 0, false
	} else if x.alone {
		return nil, 0, false
	}
	x.settled = x.settled[:0]
	for n, of := range goals {
		limit, mostFirst := most, noLimit
		if n > 0 {
			mostFirst = x.settled[0].value
		}
		if known != nil {
			limit = min(limit, p.value(of, known))
		}
		x.relax(of, x.target(limit))
		if n == 0 {
			bound = x.relaxation.Lowest()
			x.first.Copy(&x.relaxation)
			known = x.betterOf(goals, known, x.rounded(goals))
			if known == nil && p.ceiling() < noLimit { // a bound of the number may show that there is none
				if x.searchAny(); x.tree.found {
					known = slices.Clone(x.tree.best)
				} else if !x.tree.stopped {
					return nil, bound, true
				}
				x.relax(of, x.target(limit))
				x.first.Copy(&x.relaxation)
			}
		}
		if known != nil && p.value(of, known) <= limit {
			limit = p.value(of, known) - 1
		} else {
			known = nil
		}
		if x.search(of, limit, mostFirst, false, false); x.tree.found {
			known = append([]int(nil), x.tree.best...)
		}
		if known == nil {
			return nil, bound, !x.tree.stopped
		}
		value := p.value(of, known)
		if x.tree.stopped {
			return x.solution(x.exchanged(goals, known)), bound, false
		}
		if n == 0 {
			bound = value
		}
		x.settled = append(x.settled, settled{of, value})
		most = noLimit
	}
	return x.solution(x.firstOf(goals, known)), bound, true
}

// betterOf returns the better one of two sets, of which each may be nil.
func (x *Solver) betterOf(goals []objective, a, b []int) []int {
	if a == nil || b == nil {
		return slices.Concat(a, b)
	}
	for _, of := range goals {
		if v, w := x.problem.value(of, a), x.problem.value(of, b); v != w {
			if w < v {
				return b
			}
			break
		}
	}
	return a
}

// firstOf returns, of the sets as good as the known one, the first in documented order, if
// the steps suffice.
func (x *Solver) firstOf(goals []objective, known []int) []int {
	most := x.settled[0].value
	if x.settled = x.settled[1:]; len(x.settled) > 0 { // else the multipliers are those of the goal
		x.relax(goals[0], float64(most))
	}
	kept := x.maxSteps
	x.maxSteps = min(kept, x.Steps()+orderSteps)
	if x.search(goals[0], most, noLimit, true, true); x.tree.found {
		known = append([]int(nil), x.tree.best...)
	}
	x.maxSteps = kept
	return known
}

// orderSteps limits the search for the first of equally good sets. Measured by BenchmarkExact:
// with 1,000 candidates and 4 columns ten thousand steps take longer than the proof, and do
// not find it either.
const orderSteps = 2000

// target is the value that the bound climbs to: that of the known set, or all units.
func (x *Solver) target(most int64) float64 {
	if most < noLimit {
		return float64(most)
	}
	return math.MaxInt64
}
