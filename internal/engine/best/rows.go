package best

import (
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

// What a queue can take of a column is the least of several terms, one for each node from the
// queue to the root: what is left of the local quotas so far, and what may come through the
// node. A workload that leaves raises the term of a node by no more than what it takes, and
// only if it runs at or below the node: each local quota on its way keeps a part of what it frees.
//
// So each term that is too small is a row: the units at or below the node must take as much
// as is short. Rows are necessary, not sufficient; whether the request fits is asked of the
// search.

// row is a term that is too small while no victim is taken.
type row struct {
	slot int
	at   int // an index of path; nominal: of the queue's nominal quota
	need int64
}

const nominal = -1

// findRows finds the rows. No victim may be taken.
func (p *problem) findRows() {
	tree := p.s.View.Tree
	p.path, p.rows = p.path[:0], p.rows[:0]
	for n := p.s.Request.Queue; n >= 0; n = tree.Parent(n) {
		p.path = append(p.path, n)
	}
	for slot, amount := range p.s.Request.Amounts {
		if amount == 0 {
			continue
		}
		if need := p.need(&row{slot: slot, at: nominal}); p.s.StaysNominal(slot, p.borrowing) && need > 0 {
			p.rows = append(p.rows, row{slot, nominal, need})
		}
		for at := range p.path {
			if need := p.need(&row{slot: slot, at: at}); need > 0 {
				p.rows = append(p.rows, row{slot, at, need})
			}
		}
	}
}

// need returns what a row is short of without the taken units; negative if something is left.
func (p *problem) need(r *row) int64 {
	view, amount := &p.s.View, p.s.Request.Amounts[r.slot]
	if r.at == nominal {
		c := &view.Cells(p.path[0])[r.slot]
		return quota.Sub(quota.Add(c.Used(usage.Victims), amount), c.Nominal)
	}
	local, through := int64(0), int64(0)
	for i, n := range p.path[:r.at+1] {
		c := &view.Cells(n)[r.slot]
		used := c.Used(usage.Victims)
		if i == len(p.path)-1 {
			through = quota.Sub(c.SubtreeQuota, used)
			break
		}
		local, through = quota.Add(local, c.LocalAvailable(used)), c.FromParent(used)
	}
	return quota.Sub(amount, quota.Add(local, through))
}

// helps returns what a unit takes of a row.
func (p *problem) helps(u *unit, r *row) int64 {
	if u.depth > max(r.at, 0) {
		return 0
	}
	return p.frees(u, r.slot)
}
