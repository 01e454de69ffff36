package right

import "github.com/cedesched/cede/queue"

// A queue of another branch gives only while it borrows something that needs preemption, and so
// does each cohort between it and the common one (KEP-83, Preemption, step 2). In fair sharing a
// cohort gives while it borrows anything: shares decide.

// OwnDonor returns the preemptor's own queue; ok is false if its policy permits no workload.
func (c *Case) OwnDonor() (d Donor, ok bool) {
	q := c.Request.Queue
	return Donor{q, -1, Own, c.guaranteeOf(q, -1)}, c.Policy().WithinClusterQueue != queue.Never
}

// DonorAt returns another queue as a donor at a level.
func (c *Case) DonorAt(l *Level, q int) Donor {
	return Donor{q, l.Cohort, l.Class, c.guaranteeOf(q, l.Cohort)}
}

// Gives reports whether a node that is not above the preemptor's queue may give: a queue that
// borrows, a cohort under which queues may give.
func (c *Case) Gives(node int) bool {
	if c.Request.Fair.Enabled() && !c.Cluster.IsQueue(node) {
		return c.Cluster.Borrows(node)
	}
	return !c.View.WithinNominal(node, c.Needs)
}

// GaveAtFirst is Gives with all workloads.
func (c *Case) GaveAtFirst(node int) bool {
	if c.Request.Fair.Enabled() && !c.Cluster.IsQueue(node) {
		return c.Cluster.Borrows(node)
	}
	return !c.View.WithinNominalAtFirst(node, c.Needs)
}

// NotGiving returns the first node, from a queue up to the common cohort, that borrows nothing of
// what needs preemption; -1: there is none. While workloads are only removed, it stays so.
func (c *Case) NotGiving(q, common int) int {
	for n := q; n != common; n = c.View.Tree.Parent(n) {
		if c.View.WithinNominal(n, c.Needs) {
			return n
		}
	}
	return -1
}

// NothingToReclaim reports whether a donor gives nothing now.
func (c *Case) NothingToReclaim(d *Donor) bool {
	return d.Class != Own && c.NotGiving(d.Queue, d.LCA) >= 0
}

// AppendDonors appends all donors, the own queue first. Queues that give nothing are left out.
func (c *Case) AppendDonors(list []Donor) []Donor {
	if d, ok := c.OwnDonor(); ok {
		list = append(list, d)
	}
	for i := range c.Levels {
		l := &c.Levels[i]
		c.Cluster.EachQueueUnder(l.Cohort, l.Except, c.Gives, func(q int) bool {
			if c.Gives(q) && !c.Cluster.Queue(q).Inactive {
				list = append(list, c.DonorAt(l, q))
			}
			return true
		})
	}
	return list
}
