package usage

import (
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/quota"
)

// Share returns the share of a node without the victims. All columns of its tree must have
// slots.
func (v *View) Share(node int) quota.Share {
	if v.epochs[node] != v.epoch {
		return v.AtFirst.Share(node).Share
	}
	cells, others := v.Cells(node), v.othersOf(node)
	return v.Tree.Share(node, func(column int) int64 {
		slot := int(v.slots[column]) - 1
		if slot >= len(cells) {
			return others[slot-len(cells)]
		}
		return cells[slot].used[Victims]
	}).Share
}

// ShareWithout is Share without loads, too, which run in a queue at or under the node. Those of columns
// without slots do not count.
func (v *View) ShareWithout(node, queue int, loads []quotatree.Load) quota.Share {
	v.changes = v.changes[:0]
	for i := range loads {
		if slot := v.Slot(loads[i].Column); slot >= 0 {
			v.changes = append(v.changes, change{slot, -loads[i].Amount})
		}
	}
	v.carry(v.changes, queue, node)
	return v.changedShare(node, v.changes)
}

// ShareWith is Share with an amount more in each of the first slots, in a queue at or under the node.
func (v *View) ShareWith(node, queue int, amounts []int64) quota.Share {
	c := Climb{changes: v.changes}
	c.Begin(v, queue, amounts)
	v.changes = c.changes
	return c.Share(node)
}

// Climb computes the shares of nodes one above the other, with an amount more in a queue below. The zero value is ready
// for [Climb.Begin].
type Climb struct {
	view    *View
	at      int
	changes []change // of the usage there
}

// Begin starts at a queue, with an amount more in each of the first slots.
func (c *Climb) Begin(v *View, queue int, amounts []int64) {
	c.view, c.at, c.changes = v, queue, c.changes[:0]
	for slot, amount := range amounts {
		c.changes = append(c.changes, change{slot, amount})
	}
}

// Share returns the share of a node at or above the last one.
func (c *Climb) Share(node int) quota.Share {
	c.view.carry(c.changes, c.at, node)
	c.at = node
	return c.view.changedShare(node, c.changes)
}

// carry makes the changes of a node's usage those of a node at or above it: what passes the local quotas.
// It changes no usage.
func (v *View) carry(changes []change, from, node int) {
	for n := from; n != node; n = v.Tree.Parent(n) {
		for i := range changes {
			d := &changes[i]
			column := v.columns[d.slot]
			if c := v.Tree.Cell(n, column); c.LocalQuota > 0 {
				used := v.usedIn(n, column)
				d.by = c.PastLocal(used+d.by) - c.PastLocal(used)
			}
		}
	}
}

// changedShare returns the share of a node with the changes of its usage.
func (v *View) changedShare(node int, changes []change) quota.Share {
	return v.Tree.Share(node, func(column int) int64 {
		used := v.usedIn(node, column)
		for _, d := range changes {
			if v.columns[d.slot] == column {
				used += d.by
			}
		}
		return used
	}).Share
}

// usedIn returns the usage of a node without the victims in a column that has a slot.
func (v *View) usedIn(node, column int) int64 { return v.Used(node, int(v.slots[column])-1) }

// Used returns the usage of a node without the victims in a slot.
func (v *View) Used(node, slot int) int64 {
	switch {
	case v.epochs[node] != v.epoch:
		return v.AtFirst.At(node, v.columns[slot])
	case slot >= v.asked:
		return v.othersOf(node)[slot-v.asked]
	}
	return v.Cells(node)[slot].used[Victims]
}
