package cluster

import "github.com/cedesched/cede/internal/persist/vector"

// Indexes are what a cluster keeps because some rules need it. The zero value is nothing.
type Indexes struct {
	// Ascending and Descending: the share heads of this order.
	Ascending, Descending bool
	// Everybody: the reach of this extent.
	Everybody bool
}

// orders calls yield with the orders by share that are kept.
func (x Indexes) orders(yield func(order int) bool) {
	_ = (!x.Ascending || yield(0)) && (!x.Descending || yield(1))
}

// Indexed returns the cluster with some indexes, which edits keep, and no others. It costs a look at each
// queue, and with Everybody at each workload; nothing if these are kept.
func (c *Cluster) Indexed(indexes Indexes) *Cluster {
	if c.indexes == indexes {
		return c
	}
	next := *c
	next.indexes, next.reach[Everybody] = indexes, vector.Vector[*Reach]{}
	reach := c.reach[Borrowers].All()
	for _, cohort := range c.bottomUp() {
		r := *reach[cohort]
		reach[cohort], r.shares = &r, next.allShareHeads(Borrowers, cohort, reach)
	}
	next.reach[Borrowers] = vector.Of(reach)
	if indexes.Everybody {
		next.reach[Everybody] = next.allReach(Everybody)
	}
	return &next
}

// HasShareHeads reports whether an order is kept.
func (c *Cluster) HasShareHeads(descending bool) bool {
	if descending {
		return c.indexes.Descending
	}
	return c.indexes.Ascending
}
