package packing

import "math"

// Problem asks for the best units to remove so that pods have room. A solver does not change it.
type Problem struct {
	Free  [][]int64 // by node and slot: what is free with all units in place; it may be negative
	Kinds []Kind
	Least int // so many pods must have a place
	Units []Unit
	Left  []int64 // by budget that must not be violated: the pods that it allows to evict
	// Known makes room, too; nil: nothing is known. Only a better answer is looked for.
	Known    *Answer
	MaxNodes int
}

// Kind is pods that may stand for each other.
type Kind struct {
	Count int
	Needs []int64 // by slot
	// At says what holds for the kind on a node; nil: nothing on any node.
	At []Place
}

// Place is what rules besides room say about a kind on a node.
type Place struct {
	Barred  bool   // no pod of the kind may be there
	Removes []int  // units with a part on the node that must yield for it, each once
	Apart   []bool // by kind: no pod of it may be there, too; its own: at most one pod; nil: no such rule
}

// Unit is what yields together.
type Unit struct {
	Priority   int32
	Pods       int64 // everywhere
	Violations int64
	Started    int64
	Parts      []Part   // on the nodes, by node
	Charges    []Charge // to the budgets
}

// Part is the pods of a unit on one node.
type Part struct {
	Node  int
	Pods  int64
	Takes []int64 // by slot
}

// Charge is a number of pods that a budget is charged for.
type Charge struct {
	Budget int
	Pods   int64
}

// Answer is the units that yield, and which pods go where.
type Answer struct {
	Units  []int   // rising
	Places [][]int // by node and kind: how many pods
}

// Score rates units.
func (p *Problem) Score(units []int) Score {
	s := NoVictims
	for _, n := range units {
		u := &p.Units[n]
		s.Add(u.Priority, u.Pods, u.Violations, u.Started)
	}
	return s
}

// cost is the part of a score that adds up; smaller is better, the first field first.
type cost struct{ violations, sum, pods int64 }

var endless = cost{violations: math.MaxInt64}

func (a cost) plus(b cost) cost {
	return cost{a.violations + b.violations, a.sum + b.sum, a.pods + b.pods}
}

func (a cost) less(b cost) bool {
	switch {
	case a.violations != b.violations:
		return a.violations < b.violations
	case a.sum != b.sum:
		return a.sum < b.sum
	}
	return a.pods < b.pods
}

// weight is what a pod of the unit adds to the sum.
func (u *Unit) weight() int64 { return Weight(u.Priority) }

func (u *Unit) cost() cost { return cost{u.Violations, u.Pods * u.weight(), u.Pods} }

// share is the part of the cost of a unit that counts on the node of a part. The shares add up to the cost; what is
// elsewhere counts in the first.
func (u *Unit) share(part int) cost {
	pods, violations := u.Parts[part].Pods, int64(0)
	if part == 0 {
		pods, violations = u.Pods, u.Violations
		for i := range u.Parts[1:] {
			pods -= u.Parts[1+i].Pods
		}
	}
	return cost{violations, pods * u.weight(), pods}
}
