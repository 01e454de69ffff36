package packing

// progress is what a search knows of a problem: what is decided about units, and how far it got.
type progress struct {
	p        *Problem
	units    [][]located // by node
	status   []status    // by unit
	count    int         // of nodes of the search, so far
	parts    int         // a question about a node may take one of so many parts of the nodes that are left
	fullCost bool        // a unit costs on each of its nodes what it costs everywhere
	sums     bool        // the sum counts, and not only violations
}

// status says what is decided about a unit.
type status uint8

const (
	open status = iota
	in          // it yields
	out         // it stays
)

// located is a part of a unit on a node.
type located struct{ unit, part int }

// shareOf is what a part costs on its node.
func (x *progress) shareOf(l located) cost {
	if x.fullCost {
		return x.p.Units[l.unit].cost()
	}
	return x.p.Units[l.unit].share(l.part)
}
