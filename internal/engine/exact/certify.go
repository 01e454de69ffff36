package exact

import (
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/trace"
)

// A certificate shows the bound of a proof to a checker that does not search. For each attempt it
// has the multipliers and a tree of decisions about units. The tree comes from a second search,
// which knows the bound and only has to show that nothing is better. It says which unit is decided
// about next, and where a branch ends; a checker finds again why it ends.

// Certificate shows a bound.
type Certificate struct {
	// Bound is what the first objective of every allowed set is at least. It is noSet if no set is
	// allowed.
	Bound    int64
	Attempts []CertifiedAttempt
}

// CertifiedAttempt is the part of a certificate about one attempt.
type CertifiedAttempt struct {
	Borrowing bool
	Hopeless  bool    // all units together are not enough
	Bound     float64 // by the multipliers alone; Rounded: up
	Rounded   int64
	Rows      []CertifiedRow
	Caps      []CertifiedCap
	Units     []Unit
	Tree      []int // indexes of Units, and EndOfBranch; empty: the bound of the multipliers is enough
}

// CertifiedRow is a term of what the queue can take, with its multiplier.
type CertifiedRow struct {
	Slot, Node int
	Nominal    bool
	Multiplier float64
}

// CertifiedCap is a limit on the victims of one right with a priority above another one, or of a
// group of a limit on preemptions.
type CertifiedCap struct {
	Group      int // 0: of none
	Right      trace.Right
	Above      int64
	All        bool // of any priority
	Multiplier float64
}

// noSet is the bound that no set reaches, because none is allowed.
const noSet = -1

// EndOfBranch ends a branch of the tree.
const EndOfBranch = -1

// mostRecorded limits the numbers in a tree. A larger tree is no certificate that a reader would
// want to keep: BenchmarkExact's proofs have up to some thousand nodes.
const mostRecorded = 20_000

// recording is a tree that is being written down.
type recording struct {
	on      bool
	tree    []int
	units   []int // by number in the tree
	numbers map[int]int
}

// end writes the end of a branch.
func (r *recording) end() {
	if r.on {
		r.tree = append(r.tree, EndOfBranch)
	}
}

// decide writes that the next decision is about a unit.
func (r *recording) decide(unit int) {
	if !r.on {
		return
	}
	n, known := r.numbers[unit]
	if !known {
		n = len(r.units)
		r.numbers[unit], r.units = n, append(r.units, unit)
	}
	r.tree = append(r.tree, n)
}

// CertifyNoSet returns the certificate that no set is allowed, if all candidates together are
// not enough. The search in order must have collected the levels.
func (x *Solver) CertifyNoSet(s *search.Search) *Certificate {
	x.begin(s)
	defer x.end()
	return x.certify(s.Attempts(), nil, noSet)
}

// certificate returns the certificate of a proof, if there is one.
func (x *Solver) certificate(attempts []bool, caps []limit, best *solution, proof *Proof) *Certificate {
	switch {
	case best != nil:
		return x.certify(attempts, caps, proof.Bound)
	case proof.Optimal:
		return x.certify(attempts, caps, noSet)
	}
	return nil
}

// certify returns the certificate of a bound or, if a tree would be too large, of the bound by
// the multipliers; nil: nothing can be shown.
func (x *Solver) certify(attempts []bool, caps []limit, bound int64) *Certificate {
	c := &Certificate{Bound: bound}
	lowest, whole := bound, true
	for n, borrowing := range attempts {
		var known []float64
		if n < len(x.multipliers) {
			known = x.multipliers[n]
		}
		a, ok := x.certifyAttempt(borrowing, caps, bound, known)
		if !a.Hopeless {
			lowest, whole = min(lowest, a.Rounded), whole && ok
		}
		c.Attempts = append(c.Attempts, a)
	}
	switch {
	case whole:
	case bound == noSet || lowest <= 0:
		return nil
	default:
		c.Bound = lowest
		for i := range c.Attempts {
			c.Attempts[i].Units, c.Attempts[i].Tree = nil, nil
		}
	}
	return c
}

// certifyAttempt certifies the bound in one attempt. known are multipliers that the search has
// used, or nil. ok is false if the tree would be too large. That limits on preemptions leave no set
// is shown by the number of victims: more are needed than may yield.
func (x *Solver) certifyAttempt(borrowing bool, caps []limit, bound int64, known []float64) (a CertifiedAttempt, ok bool) {
	a.Borrowing = borrowing
	x.open(borrowing, caps)
	if a.Hopeless = x.hopeless(); a.Hopeless {
		return a, true
	}
	of, r := x.goals(nil)[0], &x.relaxation
	if ceiling := x.problem.ceiling(); bound == noSet && ceiling < noLimit {
		of, bound, known = victims, ceiling+1, nil
	}
	x.settled = x.settled[:0]
	most := noLimit
	if bound == noSet {
		x.relax(of, x.target(noLimit))
	} else {
		most = bound - 1
		x.relax(of, x.target(bound))
		if known != nil && r.Bound(known) > r.Root {
			copy(r.Multiply, known)
		}
		r.Root = r.Bound(r.Multiply)
		x.addMultipliers(&a)
		if a.Rounded >= bound {
			return a, true
		}
	}
	t := &x.tree
	x.first.Copy(r)
	x.nodes, x.maxNodes = 0, mostRecorded
	t.recording = recording{on: true, numbers: map[int]int{}}
	x.search(of, most, noLimit, false, false)
	recorded := t.recording
	t.recording = recording{}
	if t.stopped || t.found {
		return a, false
	}
	for _, i := range recorded.units {
		u := &x.problem.units[i]
		a.Units = append(a.Units, Unit{u.Workload, u.Set})
	}
	a.Tree = recorded.tree
	return a, true
}

// hopeless reports whether the request does not fit without all units.
func (x *Solver) hopeless() bool {
	p := &x.problem
	var gone []int
	for _, whole := range [...]bool{true, false} {
		for i := range p.units {
			if u := &p.units[i]; !u.Partial() == whole && !p.conflicts(u) {
				p.take(u)
				gone = append(gone, i)
			}
		}
	}
	fits := p.s.Fits(p.mode())
	x.putAllBack(gone)
	return !fits
}

// addMultipliers adds the multipliers that are not zero, and the bound that follows from them.
func (x *Solver) addMultipliers(a *CertifiedAttempt) {
	p, r := &x.problem, &x.relaxation
	a.Bound, a.Rounded = r.Root, r.Lowest()
	for j := range p.rows {
		if m := r.Multiply[j]; m > 0 {
			row := CertifiedRow{Slot: p.rows[j].slot, Node: p.path[max(p.rows[j].at, 0)], Nominal: p.rows[j].at == nominal, Multiplier: m}
			a.Rows = append(a.Rows, row)
		}
	}
	for j := range p.caps {
		if m, l := r.Multiply[len(p.rows)+j], &p.caps[j]; m > 0 {
			a.Caps = append(a.Caps, CertifiedCap{Group: l.group, Right: rights[l.right], Above: l.above, All: l.all, Multiplier: m})
		}
	}
}
