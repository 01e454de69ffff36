package cluster

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/workload"
)

// replace replaces workloads in the queue at a node, in a cluster that no caller has seen yet
// and that has the columns of both. It fails with a [*quotatree.UsageError].
func (c *Cluster) replace(node int, gone, come []*Workload) error {
	before := *c
	var delta []quotatree.Load
	var sums []PrioritySum
	var lanes laneMask
	for _, d := range gone {
		less := negative(d.Loads)
		delta = quotatree.AddLoads(delta, less)
		if d.lane().Yields() {
			sums = append(sums, PrioritySum{d.Priority, nonZero(less)})
		}
		lanes |= d.lanesMask()
	}
	for _, d := range come {
		delta = quotatree.AddLoads(delta, d.Loads)
		if d.lane().Yields() {
			sums = append(sums, PrioritySum{d.Priority, nonZero(d.Loads)})
		}
		lanes |= d.lanesMask()
	}
	var err error
	if c.Usage, err = c.Usage.Change(node, delta); err != nil {
		return err
	}
	for _, d := range come {
		c.byID = c.byID.Set(d)
	}
	for _, d := range gone {
		if d.leaves() {
			c.leaving, _ = c.leaving.Delete(d.Facts.ID)
		}
		if now, _ := c.byID.Get(d.Facts.ID); now == d { // otherwise it was added again
			c.byID, _ = c.byID.Delete(d.Facts.ID)
		}
	}
	for _, d := range come {
		if d.leaves() {
			c.leaving = c.leaving.Set(d)
		}
	}
	q := node - len(c.Cohorts)
	c.running = c.running.Set(q, c.running.At(q).replaced(gone, come))
	c.updateReach(&before, node, lanes, addedUp(sums))
	return nil
}

// replaced returns the index without some workloads and with others.
func (r *Running) replaced(gone, come []*Workload) *Running {
	if n := len(gone) + len(come); n > 2 && n > r.Len()/manyOf {
		return r.anew(gone, come)
	}
	next := *r
	for _, d := range gone {
		for lane := range d.lanesOf {
			next.lanes[lane], _ = next.lanes[lane].Delete(d)
		}
	}
	for _, d := range come {
		for lane := range d.lanesOf {
			next.lanes[lane] = next.lanes[lane].Insert(d)
		}
	}
	return &next
}

// manyOf is the share of a queue's workloads, 1 in 16, above which building the whole index
// is cheaper than changing workloads one by one: one change costs about as much as sorting
// 16.
const manyOf = 16

// anew builds the index from a list.
func (r *Running) anew(gone, come []*Workload) *Running {
	leave := make(map[*Workload]bool, len(gone))
	for _, d := range gone {
		leave[d] = true
	}
	list := make([]*Workload, 0, r.Len()+len(come))
	for lane := range WholeLanes {
		var cursor LaneCursor
		for cursor.First(r.lanes[lane]); ; cursor.Next() {
			d, ok := cursor.Item()
			if !ok {
				break
			}
			if !leave[d] {
				list = append(list, d)
			}
		}
	}
	next, _ := newRunning(r.home, append(list, come...), nil)
	return next
}

// Replace removes workloads and adds others, any number at once. The added ones must be
// copies with distinct IDs. It fails if one of them is invalid, its queue is unknown, or a
// usage is out of bounds, also between two steps.
func (c *Cluster) Replace(gone []*Workload, come []workload.Workload) (*Cluster, error) {
	next := *c
	changes := make([]change, 0, len(gone)+len(come))
	for i := range come {
		node, known := c.QueueNode(come[i].Queue)
		if faults := faultsOfOne(i, &come[i], known); len(faults) > 0 {
			return nil, faults
		}
		next.Columns = next.Columns.with(&come[i])
		changes = append(changes, change{node, newWorkload(&come[i], c.Running(node).home, next.Columns), true})
	}
	for _, d := range gone {
		node, _ := c.QueueNode(d.Facts.Queue())
		next.Columns = next.Columns.without(d.Loads)
		changes = append(changes, change{node, d, false})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.node, b.node) })
	var lists [2][]*Workload
	for len(changes) > 0 {
		node := changes[0].node
		lists[0], lists[1] = lists[0][:0], lists[1][:0]
		for len(changes) > 0 && changes[0].node == node {
			if changes[0].comes {
				lists[1] = append(lists[1], changes[0].workload)
			} else {
				lists[0] = append(lists[0], changes[0].workload)
			}
			changes = changes[1:]
		}
		if err := next.replace(node, lists[0], lists[1]); err != nil {
			return nil, err
		}
	}
	return &next, nil
}

// change is a workload that is removed or added.
type change struct {
	node     int
	workload *Workload
	comes    bool
}
