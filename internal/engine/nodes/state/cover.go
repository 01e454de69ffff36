package state

// replaceGroup puts a group in the place of one.
func (c *Cluster) replaceGroup(old, next *Group) {
	for _, u := range old.units() {
		c.cover(u, false)
	}
	for _, u := range next.units() {
		c.cover(u, true)
	}
	if next.Known || len(next.Members) > 0 {
		c.groups = c.groups.Set(next)
	} else {
		c.groups, _ = c.groups.Delete(next.Facts.ID)
	}
}

// swap puts a running pod in the place of one, but for its node and group.
func (c *Cluster) swap(p, next *Pod) {
	c.Running = c.Running.Set(next)
	if p.Single != nil {
		c.cover(p.Single, false)
		c.cover(next.Single, true)
	}
}

// cover adds a unit to the indexes of covered units, or removes it.
func (c *Cluster) cover(u *Unit, runs bool) {
	if !u.Covered {
		return
	}
	if runs {
		c.covered = c.covered.Insert(u)
	} else {
		c.covered, _ = c.covered.Delete(u)
	}
	var slots [8]int32
	for _, slot := range u.budgets(slots[:0]) {
		if runs {
			c.byBudget = c.byBudget.Insert(coverage{slot, u})
		} else {
			c.byBudget, _ = c.byBudget.Delete(coverage{slot, u})
		}
	}
}
