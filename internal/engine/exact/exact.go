package exact

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
	greedy     []right.Victim
	caps       []limit // of greedy
	priorities []int64
	nodes      int // of the search, so far
	maxNodes   int
	used       []bool   // scratch of placesOf, by place
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
	// Nodes is the number of nodes looked at.
	Nodes int
	// History is kept for explanations.
	History *History
}

// Best replaces the victims by the best allowed set. found says that the search in order has
// taken some. It reports whether there are victims now.
func (x *Solver) Best(s *search.Search, found bool) (bool, Proof) {
	greedy := x.begin(s)
	var caps []limit
	if found && !s.Request.Better.IgnoreCaps {
		caps = x.capsOf(greedy)
	}
	attempts := s.Attempts()
	best, proof := x.bestOf(attempts, caps, greedy)
	if best == nil && found { // what was put back had justified what remained
		best, proof = x.bestOf(attempts, nil, nil)
	}
	x.begins(greedy)
	x.notesBest(best)
	proof.History = x.history
	switch {
	case best == nil:
	case found && slices.Equal(best.places, x.placesOf(greedy)):
		for i := range greedy {
			s.Take(greedy[i])
		}
	default:
		x.apply(best)
	}
	x.end()
	return best != nil, proof
}

// Exists reports whether there is an allowed set, or may be one: the nodes did not suffice.
func (x *Solver) Exists(s *search.Search) bool {
	x.begin(s)
	defer x.end()
	for _, borrowing := range s.Attempts() {
		x.open(borrowing, nil)
		if x.searchAny(); x.tree.found || x.tree.stopped {
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

// movesOfNode is how many moves of victims, to look for an order, count as a node: they take about as long.
const movesOfNode = 64

// spent returns what the search has cost so far, in nodes.
func (x *Solver) spent() int { return x.nodes + x.problem.moves/movesOfNode }

// Moves returns how often the last search moved a victim to look for an order.
func (x *Solver) Moves() int { return x.problem.moves }

// begin puts the victims back, and lists the candidates.
func (x *Solver) begin(s *search.Search) (greedy []right.Victim) {
	x.problem.s = s
	greedy = slices.Clone(s.Taken)
	s.PutAllBack()
	x.collect(math.MaxInt)
	x.nodes, x.problem.moves, x.maxNodes = 0, 0, s.Request.Better.MaxNodes
	return greedy
}

// end drops the references to the cluster.
func (x *Solver) end() {
	x.problem.s, x.history, x.last = nil, nil, nil
	clear(x.list)
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
		var known []int
		if len(greedy) > 0 {
			known = x.exchanged(goals, x.known(greedy))
		}
		most := noLimit
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
	proof.Nodes = x.nodes
	return best, proof
}

// bestIn returns the best set of the attempt that is open, if its first objective is at most
// as large as given. known is a set of units that is allowed, or nil. If the nodes do not
// suffice, bound is that of the first objective.
func (x *Solver) bestIn(goals []objective, known []int, most int64) (best *solution, bound int64, optimal bool) {
	p := &x.problem
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
// the nodes suffice.
func (x *Solver) firstOf(goals []objective, known []int) []int {
	most := x.settled[0].value
	if x.settled = x.settled[1:]; len(x.settled) > 0 { // else the multipliers are those of the goal
		x.relax(goals[0], float64(most))
	}
	kept, nodes := x.maxNodes, x.nodes
	x.maxNodes = min(x.maxNodes, x.spent()+orderNodes)
	if x.search(goals[0], most, noLimit, true, true); x.tree.found {
		known = append([]int(nil), x.tree.best...)
	}
	if x.maxNodes = kept; x.tree.stopped {
		x.nodes = min(nodes+orderNodes, kept)
	}
	return known
}

// orderNodes limits the search for the first of equally good sets. Measured by BenchmarkExact:
// with 1,000 candidates and 4 columns ten thousand nodes take longer than the proof, and do
// not find it either.
const orderNodes = 2000

// target is the value that the bound climbs to: that of the known set, or all units.
func (x *Solver) target(most int64) float64 {
	if most < noLimit {
		return float64(most)
	}
	return math.MaxInt64
}
