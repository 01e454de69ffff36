package cluster

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/workload"
)

// Change is a workload that changes, leaves (New is nil) or comes (Old is nil).
type Change struct {
	Old *Workload
	New *workload.Workload // a copy that stays as it is
}

// change is a change of the workloads of one queue. One of the two may be nil: the workload
// leaves the queue, or comes.
type change struct {
	node     int
	old, now *Workload
	moves    bool // to another queue, or from one
}

// phase is 0 for a workload that moves to another queue, and 1 for all else.
func (ch *change) phase() int {
	if ch.moves && ch.now == nil {
		return 0
	}
	return 1
}

// replace changes workloads in the queue at a node, in a cluster that no caller has seen yet
// and that has the columns of both. It fails with a [*quotatree.UsageError].
func (c *Cluster) replace(node int, changes []change) error {
	before := *c
	var room [4]quotatree.Load // most workloads have no more columns
	delta := room[:0]
	var sums []PrioritySum
	var lanes laneMask
	all := withParts(changes)
	for _, ch := range all {
		lanes |= ch.old.lanesMask() | ch.now.lanesMask()
		alike := ch.old != nil && ch.now != nil && ch.old.Template == ch.now.Template
		if alike && ch.old.Priority == ch.now.Priority && ch.old.lane().Yields() == ch.now.lane().Yields() {
			continue
		}
		if ch.old != nil {
			less := negative(ch.old.Loads)
			if !alike {
				delta = quotatree.AddLoads(delta, less)
			}
			if ch.old.lane().Yields() {
				sums = append(sums, PrioritySum{ch.old.Priority, nonZero(less)})
			}
		}
		if ch.now != nil {
			if !alike {
				delta = quotatree.AddLoads(delta, ch.now.Loads)
			}
			if ch.now.lane().Yields() {
				sums = append(sums, PrioritySum{ch.now.Priority, nonZero(ch.now.Loads)})
			}
		}
	}
	var err error
	if len(delta) > 0 {
		if c.Usage, err = c.Usage.Change(node, delta); err != nil {
			return err
		}
	}
	c.edited(len(changes))
	q := node - len(c.Cohorts)
	for _, ch := range changes {
		c.index(ch)
	}
	c.running = c.running.Set(q, c.running.At(q).replaced(all))
	c.leavers = c.leavers.with(node, c.running.At(q))
	c.updateReach(&before, node, lanes, addedUp(sums))
	return nil
}

// index brings the workloads by ID up to date. A workload that moves is replaced where it
// comes to.
func (c *Cluster) index(ch change) {
	switch {
	case ch.now != nil:
		c.byID = c.byID.Set(ch.now)
		if ch.now.leaves() {
			c.leaving = c.leaving.Set(ch.now)
		} else if ch.moves || ch.old != nil && ch.old.leaves() {
			c.leaving, _ = c.leaving.Delete(ch.now.Facts.ID)
		}
	case !ch.moves:
		c.byID, _ = c.byID.Delete(ch.old.Facts.ID)
		if ch.old.leaves() {
			c.leaving, _ = c.leaving.Delete(ch.old.Facts.ID)
		}
	}
}

// replaced returns the index after changes, those of leaving replicas included.
func (r *Running) replaced(changes []change) *Running {
	n := 0
	for _, ch := range changes {
		n += ch.steps()
	}
	if n > 2 && n > r.Len()/manyOf {
		return r.anew(changes)
	}
	next := *r
	for _, ch := range changes {
		was, is := ch.old.lanes(), ch.now.lanes()
		for lane := range AllLanes {
			set := &next.lanes[lane]
			switch {
			case was.has(lane) && is.has(lane):
				*set = set.Replace(ch.old, ch.now)
			case was.has(lane):
				*set, _ = set.Delete(ch.old)
			case is.has(lane):
				*set = set.Insert(ch.now)
			}
		}
	}
	return &next
}

// steps counts the workloads that leave or come.
func (ch *change) steps() int {
	if ch.old == nil || ch.now == nil {
		return 1
	}
	return 2
}

// manyOf is the share of a queue's workloads, 1 in 16, above which building the whole index
// is cheaper than changing workloads one by one: one change costs about as much as sorting
// 16.
const manyOf = 16

// anew builds the index after changes from a list. Records that do not change stay the same.
func (r *Running) anew(changes []change) *Running {
	type key struct {
		id      string
		leaving int
	}
	leave := make(map[key]bool, len(changes))
	list := make([]*Workload, 0, r.Len()+len(changes))
	for _, ch := range changes {
		if ch.old != nil {
			leave[key{ch.old.Facts.ID, ch.old.Leaving}] = true
		}
		if ch.now != nil {
			list = append(list, ch.now)
		}
	}
	for w := range r.Whole {
		if !leave[key{w.Facts.ID, w.Leaving}] {
			list = append(list, w)
		}
	}
	next, _ := newRunning(r.home, list, nil)
	return next
}

// Replace changes workloads, any number at once, with distinct IDs. It fails if one of them is
// invalid, its queue is unknown, or a usage is out of bounds, also between two steps.
func (c *Cluster) Replace(changes []Change) (*Cluster, error) {
	for i := range changes {
		if w := changes[i].New; w != nil {
			_, known := c.QueueNode(w.Queue)
			if faults := faultsOfOne(i, w, known); len(faults) > 0 {
				return nil, faults
			}
		}
	}
	next, err := c.changed(changes)
	if err != nil {
		return nil, err
	}
	return next, nil
}

// changed makes valid changes of workloads with distinct IDs. If it fails, with a
// [*quotatree.UsageError], it returns a cluster with the columns that the error names.
func (c *Cluster) changed(changes []Change) (*Cluster, error) {
	next := *c
	var few [2]change
	parts := few[:0]
	for i := range changes {
		old, w := changes[i].Old, changes[i].New
		part := change{node: -1, old: old}
		if old != nil {
			part.node, _ = c.QueueNode(old.Facts.Queue())
		}
		if w != nil {
			node, _ := c.QueueNode(w.Queue)
			if old != nil && node != part.node {
				parts = append(parts, change{node: part.node, old: old, moves: true})
				part = change{moves: true}
			}
			part.node = node
			part.now = next.record(w, c.Running(node).home, old)
		}
		parts = append(parts, part)
	}
	columns := next.Columns
	for i := range changes { // last, so that no column changes its number in between
		if old := changes[i].Old; old != nil && (changes[i].New == nil || !old.takesAs(changes[i].New)) {
			next.Columns = next.Columns.without(old.Loads)
		}
	}
	// Workloads that move leave first: nothing holds two records of one workload.
	slices.SortStableFunc(parts, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.phase(), b.phase()), cmp.Compare(a.node, b.node))
	})
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && parts[n].node == parts[0].node && parts[n].phase() == parts[0].phase() {
			n++
		}
		if err := next.replace(parts[0].node, parts[:n]); err != nil {
			next.Columns = columns
			return &next, err
		}
		parts = parts[n:]
	}
	return &next, nil
}
