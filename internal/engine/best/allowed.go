package best

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
)

// Which orders have to be looked at?
//
// A victim of another queue must still find its queue, and each cohort below the common one,
// borrowing. Usage only falls when workloads leave, so what is permitted with some gone is
// permitted with fewer gone. Two things follow. A set without one of its victims keeps its order:
// if a set has no order, no larger set has one. And a victim that may be taken after all others may
// be put last: if it moves to the end of some order, no other victim has more victims before it
// than there. So an order is found from its end, and no choice has to be undone.
//
// The nodes that are asked are on the victim's side of the common cohort. Only victims of the
// same side change their usage, so each side has an order of its own.

// borrows reports whether a node borrows a column that needs preemption; in fair sharing, any
// column. Else its workloads may not be taken.
func (p *problem) borrows(node int) bool {
	if p.s.Request.Fair.Enabled() {
		return p.s.View.Share(node).Borrows
	}
	return !p.s.View.WithinNominal(node, p.s.Needs)
}

// mode is the attempt that is open.
func (p *problem) mode() source.Mode { return source.Mode{Borrowing: p.borrowing} }

// mayGo reports whether a victim that is still there may be taken now.
func (p *problem) mayGo(v *right.Victim) bool {
	for n := v.Queue; v.Cohort >= 0 && n != v.Cohort; n = p.s.View.Tree.Parent(n) {
		if !p.borrows(n) {
			return false
		}
	}
	return true
}

// allow reports whether the taken victims have an order together with one more, which is still
// there. They must have one without it.
func (p *problem) allow(v *right.Victim) bool {
	if !p.s.MayTake(v) {
		return false
	}
	if p.mayGo(v) {
		return true
	}
	for i := range p.s.Taken {
		if p.s.Taken[i].Side == v.Side { // they can only go before it, so another one has to be last
			p.s.Take(*v)
			ok := p.sideInOrder(v.Side, -1)
			p.s.PutLastBack()
			return ok
		}
	}
	return false
}

// sideInOrder reports whether the taken victims of one side have an order, in which the
// victim of the given index, if it is not negative, is the last. It leaves the order,
// reversed, in p.order.
func (p *problem) sideInOrder(side, last int) bool {
	taken := p.s.Taken
	p.looks += len(taken)
	p.order, p.placed = p.order[:0], sized(p.placed, len(taken))
	clear(p.placed)
	left := 0
	for i := range taken {
		if taken[i].Side == side {
			left++
		}
	}
	put := func(i int) bool {
		p.moves++
		p.s.Move(&taken[i], 1, taken)
		if p.mayGo(&taken[i]) {
			p.order, p.placed[i] = append(p.order, i), true
			left--
			return true
		}
		p.s.Move(&taken[i], -1, taken)
		return false
	}
	for found := last < 0 || put(last); found && left > 0; {
		found = false
		for i := len(taken) - 1; i >= 0; i-- {
			found = taken[i].Side == side && !p.placed[i] && put(i) || found
		}
	}
	for _, i := range p.order {
		p.s.Move(&taken[i], -1, taken)
	}
	return left == 0
}
