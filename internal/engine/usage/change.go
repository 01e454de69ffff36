package usage

import "github.com/cedesched/cede/internal/engine/quotatree"

// Fill puts everything back.
func (v *View) Fill(gone Gone) {
	for i := range v.cells {
		v.cells[i].used[gone] = v.cells[i].first
	}
}

// Move adds loads, times `times`, to the queue at a node; a negative number removes them.
func (v *View) Move(gone Gone, node int, loads []quotatree.Load, times int64) {
	v.changes = v.changes[:0]
	for i := range loads {
		if slot := v.Slot(loads[i].Column); slot >= 0 {
			v.changes = append(v.changes, change{slot, times * loads[i].Amount})
		}
	}
	v.bubble(gone, node)
}

// RemoveSlots removes an amount in each of the first slots.
func (v *View) RemoveSlots(gone Gone, node int, amounts []int64) {
	v.changes = v.changes[:0]
	for slot, amount := range amounts {
		if amount != 0 {
			v.changes = append(v.changes, change{slot, -amount})
		}
	}
	v.bubble(gone, node)
}

// MoveSlot is Move for an amount in one slot.
func (v *View) MoveSlot(gone Gone, node, slot int, amount int64) {
	v.changes = append(v.changes[:0], change{slot, amount})
	v.bubble(gone, node)
}

// bubble makes the changes to the usage of a node, and to that of its ancestors by what
// passes the local quotas. Usage is within quota.MaxUsage, so plain sums are exact.
func (v *View) bubble(gone Gone, node int) {
	changes := v.changes
	for ; node >= 0 && len(changes) > 0; node = v.Tree.Parent(node) {
		cells, left := v.Cells(node), changes[:0]
		for _, d := range changes {
			if d.slot >= v.asked {
				d.by = v.changeOther(gone, node, d)
			} else {
				c := &cells[d.slot]
				before := c.used[gone]
				c.used[gone] += d.by
				if c.LocalQuota > 0 {
					d.by = c.PastLocal(c.used[gone]) - c.PastLocal(before)
				}
			}
			if d.by != 0 {
				left = append(left, d)
			}
		}
		changes = left
	}
}

// changeOther makes a change in a slot that is not asked for, where only the usage without the victims is kept, and returns by how much
// the usage of the parent changes.
func (v *View) changeOther(gone Gone, node int, d change) int64 {
	if gone != Victims {
		return 0
	}
	used := &v.othersOf(node)[d.slot-v.asked]
	before := *used
	*used += d.by
	if c := v.Tree.Cell(node, v.columns[d.slot]); c.LocalQuota > 0 {
		return c.PastLocal(*used) - c.PastLocal(before)
	}
	return d.by
}
