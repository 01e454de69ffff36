// Package moving finds which units must leave their nodes, and where their pods go, so that nodes are not over: by branch and
// bound. A node is over after a pod came to it, or if it is closed. Each step settles one pod that has no node, or one node that
// is over: one of its units leaves. So every unit that leaves is needed, and all sets of units that may be needed are seen.
package moving

import "math"

// Never is the price of what must not be.
const Never = math.MaxInt64

// Problem is nodes, the units that may leave them, and pods without a node.
type Problem struct {
	// Free is, by node and slot, what is free with all units in place. A node may be over; that counts once a pod comes. The
	// amounts of all nodes, and what all units take, must not add up to more than 2^62.
	Free [][]int64
	// Closed says which nodes must have no unit left, and take no pod. All of their units are in Units.
	Closed []bool
	// Units are the units that may leave, and those without a node: these must be placed.
	Units []Unit
	// Left is, by budget, how many pods may leave.
	Left []int64
	// MaxNodes limits the nodes of the search.
	MaxNodes int
	// Limit is the cost of an answer that is known. Only better ones are looked for; afterwards it is the cost of the best.
	Limit Cost
}

// Unit is a unit of pods that leave together.
type Unit struct {
	Pods        []Pod
	Yield, Move int64   // what is lost if it leaves for good, and if it has places; Never: it must not
	Charges     []int32 // the budget of each pod that is charged to one, once for each
	Within      [][]int // nodes within one of which all its pods must be; nil: anywhere
}

// Pod is a pod of a unit.
type Pod struct {
	Needs []int64 // by slot
	At    int     // the node where it runs; -1: none
	May   []bool  // by node; nil: all
}

// Cost is what an answer costs: first what is lost, then the number of pods that leave a node.
type Cost struct{ Lost, Pods int64 }

// None is worse than any answer.
var None = Cost{math.MaxInt64, math.MaxInt64}

// Less reports whether c is better.
func (c Cost) Less(d Cost) bool { return c.Lost < d.Lost || c.Lost == d.Lost && c.Pods < d.Pods }

// Answer says, by unit, whether it leaves, and by pod where it goes: -1 for a unit that leaves for good.
type Answer struct {
	Cost   Cost
	Leaves []bool
	Places [][]int
}

// Result is what a search found.
type Result struct {
	Answer *Answer // nil: none is better than the limit
	Bound  Cost    // no answer costs less
	Nodes  int
}
