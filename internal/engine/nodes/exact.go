package nodes

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/packing"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Proof says how good a decision of the exact search is.
type Proof struct {
	// Optimal: nothing in the domains that were looked at is better. If there is no placement:
	// there is none.
	Optimal bool
	// Value is the score of the placement. Nothing has a better one than Bound.
	Value, Bound packing.Score
	Nodes        int
}

// exact is the memory of the exact search.
type exact struct {
	solver  packing.Solver
	problem packing.Problem
	nodes   int           // of the search, so far
	bounded bool          // some domain has a bound
	bound   packing.Score // the best one
	unclear bool          // of some domain it is not known whether there is a placement
	units   []*Unit       // that may yield in the domain, the most important first
	number  map[*Unit]int // their indexes
	kinds   [][]int       // members
	budget  []int         // by slot, its number in the problem: slots depend on edits, the order of names does not
}

// beginExact forgets the exact search of another decision.
func (s *Searcher) beginExact() {
	if s.exact == nil {
		s.exact = &exact{number: map[*Unit]int{}}
	}
	s.exact.nodes, s.exact.bounded, s.exact.unclear = 0, false, false
}

// endExact drops the references to the cluster.
func (s *Searcher) endExact() {
	x := s.exact
	clear(x.number)
	clear(x.units)
	x.problem = packing.Problem{}
}

// improve looks for the best victims and places in a domain, after the search in steps. As many
// members get a place as have one there without all that may yield, else as many as must have one.
func (s *Searcher) improve(d span, v verdict) verdict {
	x := s.exact
	switch {
	case v == noVictims, v == noRoom && s.r.Group == "": // for one pod on one node the sums say it
		return v
	case v == found && len(s.victims) == 0: // nothing is better
		return v
	}
	known, where := slices.Clone(s.victims), slices.Clone(s.where)
	s.ask(d)
	if v == found {
		x.problem.Known, x.problem.Least = s.answerOf(d, known, where), s.enough
	}
	x.problem.MaxNodes = s.config.MaxNodes - x.nodes
	result := x.solver.Solve(&x.problem)
	x.nodes += result.Nodes
	if result.None {
		return v
	}
	if !x.bounded || result.Bound.Compare(x.bound) < 0 {
		x.bounded, x.bound = true, result.Bound
	}
	switch {
	case result.Answer != nil && s.carryOut(d, result.Answer):
		if t := s.r.Trace; t != nil {
			t.Add(trace.Step{Kind: trace.Improved, Count: int64(len(known)), Fits: v == found})
		}
		return found
	case v != found:
		x.unclear = true
	case s.config.Mode != Replace || !s.carryOut(d, x.problem.Known):
		s.victims = append(s.victims[:0], known...)
		slices.SortFunc(s.victims, s.compare)
		copy(s.where, where)
	}
	return v
}

// ask makes the problem of a domain.
func (s *Searcher) ask(d span) {
	x := s.exact
	s.forget()
	s.anyVictims(d)
	s.split(d)
	x.units = append(x.units[:0], s.gather(d, everyone, func(class) bool { return true })...)
	clear(x.number)
	x.problem = packing.Problem{Least: s.atLeast}
	s.open(nobody, false)
	for i := d.from; i < d.to; i++ {
		x.problem.Free = append(x.problem.Free, slices.Clone(s.freeOn(i)))
	}
	if s.config.HardBudgets {
		x.budget = resize(x.budget, len(s.c.budgets))
		for i, slot := range s.c.byName {
			x.budget[slot] = i
			x.problem.Left = append(x.problem.Left, s.c.budgets[slot].Facts.Allowed)
		}
	}
	for n, u := range x.units {
		x.number[u] = n
		x.problem.Units = append(x.problem.Units, s.unitFor(d, u))
	}
	s.open(s.everybody(), false)
	s.findKinds(d)
}

// unitFor returns a unit in the form of the problem.
func (s *Searcher) unitFor(d span, u *Unit) packing.Unit {
	out := packing.Unit{Priority: u.Priority, Pods: int64(len(u.Pods)), Violations: int64(s.violations[u]), Started: u.started}
	var inside []*Pod
	for _, p := range u.Pods {
		if i := int(s.local[p.node]); i >= d.from && i < d.to {
			inside = append(inside, p)
		}
	}
	slices.SortStableFunc(inside, func(a, b *Pod) int { return int(s.local[a.node]) - int(s.local[b.node]) })
	for n, p := range inside {
		if n == 0 || inside[n-1].node != p.node {
			out.Parts = append(out.Parts, packing.Part{Node: int(s.local[p.node]) - d.from, Takes: make([]int64, len(s.slots))})
		}
		part := &out.Parts[len(out.Parts)-1]
		part.Pods++
		for _, a := range p.takes {
			if slot := s.slotOf[a.column]; slot >= 0 {
				part.Takes[slot] += a.value
			}
		}
	}
	if s.config.HardBudgets {
		out.Violations, out.Charges = 0, s.chargesOf(u)
	}
	return out
}

// chargesOf returns what a unit is charged to the budgets.
func (s *Searcher) chargesOf(u *Unit) (list []packing.Charge) {
	books := ledger{budgets: s.c.budgets}
	for _, p := range u.Pods {
		for _, b := range p.budgets {
			if !books.charged(b, p) {
				continue
			}
			number := s.exact.budget[b]
			at := slices.IndexFunc(list, func(c packing.Charge) bool { return c.Budget == number })
			if at < 0 {
				at, list = len(list), append(list, packing.Charge{Budget: number})
			}
			list[at].Pods++
		}
	}
	return list
}

// answerOf returns victims and places in the form of the problem.
func (s *Searcher) answerOf(d span, victims []*Unit, where []int32) *packing.Answer {
	x := s.exact
	a := &packing.Answer{Places: make([][]int, len(x.problem.Free))}
	for _, u := range victims {
		a.Units = append(a.Units, x.number[u])
	}
	slices.Sort(a.Units)
	for node := range a.Places {
		a.Places[node] = make([]int, len(x.kinds))
	}
	for k, members := range x.kinds {
		for _, m := range members {
			if where[m] >= 0 {
				a.Places[int(where[m])-d.from][k]++
			}
		}
	}
	return a
}

// carryOut makes an answer the state of the search: victims are as few as possible, and members
// that are left get a place where there is room besides. It reports whether rules of the caller
// that the problem leaves out permit the answer.
func (s *Searcher) carryOut(d span, a *packing.Answer) bool {
	x := s.exact
	s.forget()
	s.anyVictims(d)
	for n, u := range x.units {
		if _, yields := slices.BinarySearch(a.Units, n); !yields {
			s.stay(u)
		}
	}
	s.open(s.everybody(), false)
	goes := make([]int32, len(s.members))
	for k, members := range x.kinds {
		next := 0
		for node, counts := range a.Places {
			for range counts[k] {
				goes[members[next]] = int32(d.from+node) + 1
				next++
			}
		}
	}
	for m, at := range goes {
		if at == 0 {
			continue
		}
		if !s.fits(d, &s.members[m], int(at)-1) {
			return false
		}
		s.put(m, at-1)
	}
	s.victims = s.victims[:0]
	for _, n := range a.Units {
		if u := x.units[n]; s.putBack(d, u) {
			s.stay(u)
		} else {
			s.victims = append(s.victims, u)
		}
	}
	s.place(d)
	return true
}

// proofOf returns the proof of a placement; nil: of there being none.
func (s *Searcher) proofOf(best *Placement) *Proof {
	x := s.exact
	none := packing.Score{Started: justNow}
	p := &Proof{Optimal: !x.unclear, Nodes: x.nodes, Value: none, Bound: none}
	if best == nil {
		return p
	}
	p.Value = packing.Nobody
	if c := &best.score; len(best.Victims) > 0 {
		p.Value = packing.Score{Violations: int64(c.violations), Highest: c.highest, Sum: c.sum, Pods: int64(c.pods), Started: c.started}
	}
	p.Bound = p.Value
	if x.bounded && x.bound.Compare(p.Value) < 0 {
		p.Bound = x.bound
	}
	p.Optimal = p.Bound == p.Value
	return p
}
