package cluster

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/internal/persist/vector"
)

// Head is the first workload of a lane at Node: in the queue, or in the queues under the
// cohort that can be reached.
type Head struct {
	Workload *Workload
	Lane     Lane
	Node     int32
}

// Heads are the heads of a cohort's children, by lane, then in the order of candidates. A
// search that reclaims from the cohort finds its first candidate at the front, without a look
// at queues that come later.
type Heads = ordered.Set[Head, none]

// HeadCursor walks [Heads].
type HeadCursor = ordered.Cursor[Head, none]

type none = struct{}

var headOrder = &ordered.Order[Head, none]{Compare: func(a, b Head) int {
	if c := cmp.Compare(a.Lane, b.Lane); c != 0 {
		return c
	}
	return compareInLane(a.Workload, b.Workload)
}}

// Reach is what can be reached under a cohort. It is immutable.
type Reach struct {
	Heads Heads
	// Sums holds, by rising priority, by how much the cohort's usage falls if all workloads
	// in queues that can be reached leave.
	Sums  PrioritySums
	lanes laneMask // the lanes that have heads
}

// Has reports whether the lane has a head.
func (r *Reach) Has(lane Lane) bool { return r.lanes>>lane&1 != 0 }

// Reach returns what can be reached under the cohort at the node.
func (c *Cluster) Reach(cohort int) *Reach { return c.reach.At(cohort) }

// Heads returns the heads of the cohort at the node.
func (c *Cluster) Heads(cohort int) Heads { return c.Reach(cohort).Heads }

// SeekLane moves the cursor to the first head of the lane.
func SeekLane(cursor *HeadCursor, heads Heads, lane Lane) {
	cursor.Seek(heads, func(h Head) bool { return h.Lane < lane })
}

// Borrows reports whether the node uses more than its subtree quota of any column.
func (c *Cluster) Borrows(node int) bool {
	for _, l := range c.Usage.Row(node) {
		if cell := c.Tree.Cell(node, l.Column); !cell.WithinNominal(l.Amount) {
			return true
		}
	}
	return false
}

// Head returns the first workload of a lane that can be reached under a cohort; nil if there
// is none.
func (c *Cluster) Head(cohort int, lane Lane) *Workload { return c.Reach(cohort).head(lane) }

func (r *Reach) head(lane Lane) *Workload {
	var cursor HeadCursor
	SeekLane(&cursor, r.Heads, lane)
	if h, ok := cursor.Item(); ok && h.Lane == lane {
		return h.Workload
	}
	return nil
}

// headOf returns the first workload of a lane: in the queue at a node if r is nil, else in
// the reach r of the cohort at the node.
func (c *Cluster) headOf(node int, r *Reach, lane Lane) *Workload {
	if r != nil {
		return r.head(lane)
	}
	w, _ := c.Running(node).Lane(lane).First()
	return w
}

// CanReach reports whether what runs under the node can be reached from its parent: it borrows
// and is no inactive queue.
func (c *Cluster) CanReach(node int) bool {
	return c.Borrows(node) && !(c.IsQueue(node) && c.Queue(node).Inactive)
}

// reachAll computes the reach of every cohort, from the bottom up. before is a cluster with the same
// workloads and another configuration, or nil; sums that are the same there are taken from it, because
// adding up reads every queue.
func (c *Cluster) reachAll(before *Cluster) {
	kept := c.keptSums(before)
	heads := make([][]Head, len(c.Cohorts))
	sums := make([][]PrioritySum, len(c.Cohorts))
	reach := make([]*Reach, len(c.Cohorts))
	var room []PrioritySum
	push := func(node int, r *Reach) {
		parent := c.Tree.Parent(node)
		if parent < 0 || !c.CanReach(node) {
			return
		}
		for lane := range Lanes {
			if w := c.headOf(node, r, lane); w != nil {
				heads[parent] = append(heads[parent], Head{w, lane, int32(node)})
			}
		}
		if kept[parent] != nil {
			return
		}
		room = c.passing(node, r, room[:0])
		if to := &sums[parent]; len(*to)+len(room) > cap(*to) { // priorities recur
			*to = addedUp(*to)
			*to = slices.Grow(*to, len(*to)+len(room))
		}
		sums[parent] = append(sums[parent], room...)
	}
	for q := range c.Queues {
		push(len(c.Cohorts)+q, nil)
	}
	for _, cohort := range c.bottomUp() {
		slices.SortFunc(heads[cohort], headOrder.Compare)
		r := &Reach{Heads: ordered.Of(headOrder, heads[cohort])}
		if same := kept[cohort]; same != nil {
			r.Sums = *same
		} else {
			r.Sums = ordered.Of(sumOrder, addedUp(sums[cohort]))
		}
		for _, h := range heads[cohort] {
			r.lanes |= 1 << h.Lane
		}
		reach[cohort] = r
		push(cohort, r)
	}
	c.reach = vector.Of(reach)
}

// keptSums returns, by cohort, the sums that it has in a cluster with the same workloads if they are the same
// there: its children that can be reached are the same, and the same passes each of them. Else nil.
func (c *Cluster) keptSums(before *Cluster) []*PrioritySums {
	kept := make([]*PrioritySums, len(c.Cohorts))
	if before == nil {
		return kept
	}
	for _, cohort := range c.bottomUp() {
		old, known := before.CohortNode(c.Cohorts[cohort].Name)
		if !known {
			continue
		}
		reached, same := 0, true
		for _, list := range [...][]int32{c.ChildQueues[cohort], c.ChildCohorts[cohort]} {
			for _, child := range list {
				if node := int(child); same && c.CanReach(node) {
					reached++
					same = (c.IsQueue(node) || kept[node] != nil) && c.passesAsIn(before, node, old)
				}
			}
		}
		for _, list := range [...][]int32{before.ChildQueues[old], before.ChildCohorts[old]} {
			for _, child := range list {
				if before.CanReach(int(child)) {
					reached--
				}
			}
		}
		if same && reached == 0 {
			kept[cohort] = &before.Reach(old).Sums
		}
	}
	return kept
}

// passesAsIn reports whether a node that can be reached is a child of a cohort of another cluster, can be
// reached there, and has there the same usage and the same local quotas.
func (c *Cluster) passesAsIn(before *Cluster, node, cohort int) bool {
	var old int
	var known bool
	if c.IsQueue(node) {
		old, known = before.QueueNode(c.Queue(node).Name)
	} else {
		old, known = before.CohortNode(c.Cohorts[node].Name)
	}
	if !known || before.Tree.Parent(old) != cohort || !before.CanReach(old) {
		return false
	}
	used := c.Usage.Row(node)
	return slices.Equal(used, before.Usage.Row(old)) && !slices.ContainsFunc(used, func(l quotatree.Load) bool {
		return c.Tree.Cell(node, l.Column).LocalQuota != before.Tree.Cell(old, l.Column).LocalQuota
	})
}

// bottomUp returns the cohorts, each after those under it.
func (c *Cluster) bottomUp() []int {
	list := make([]int, len(c.Cohorts))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(c.Tree.Depth(b), c.Tree.Depth(a)) })
	return list
}

// updateReach updates the reach of the cohorts above a queue, in a cluster that no caller has
// seen yet. before is the cluster it was made from, lanes are the changed lanes of the queue,
// and more holds the change of usage by priority.
func (c *Cluster) updateReach(before *Cluster, node int, lanes laneMask, more []PrioritySum) {
	var few [8]int // most trees are not deeper
	var fewReach [8]*Reach
	at, made := few[:0], fewReach[:0]
	var was, is *Reach // of the node; nil for the queue
	for parent := c.Tree.Parent(node); parent >= 0; node, parent = parent, c.Tree.Parent(parent) {
		did, does := before.CanReach(node), c.CanReach(node)
		switch {
		case !did && !does:
			lanes, more = 0, nil
		case did != does || !before.passesAll(node) || !c.passesAll(node):
			if did != does {
				lanes = allLanes
			}
			more = addedUp(append(c.passing(node, is, nil), withdrawn(before.passing(node, was, nil))...))
		}
		above := before.Reach(parent)
		if lanes == 0 && len(more) == 0 {
			was, is = above, above
			continue
		}
		r := *above
		for lane := range Lanes {
			if lanes>>lane&1 == 0 {
				continue
			}
			var old, now *Workload
			if did {
				old = before.headOf(node, was, lane)
			}
			if does {
				now = c.headOf(node, is, lane)
			}
			if !r.change(lane, int32(node), old, now) {
				lanes &^= 1 << lane
			}
		}
		was, is = above, above
		if lanes != 0 || len(more) > 0 {
			r.Sums = plus(r.Sums, more)
			is = &r
			i, _ := slices.BinarySearch(at, parent)
			at, made = slices.Insert(at, i, parent), slices.Insert(made, i, is)
		}
	}
	c.reach = before.reach.SetAll(at, made)
}

// change replaces the head of a child in a lane, in a reach that no caller has seen yet. It
// returns false if old and now are the same.
func (r *Reach) change(lane Lane, child int32, old, now *Workload) bool {
	if old == now {
		return false
	}
	if old != nil {
		r.Heads, _ = r.Heads.Delete(Head{old, lane, child})
	}
	if now != nil {
		r.Heads = r.Heads.Insert(Head{now, lane, child})
	}
	if r.lanes |= 1 << lane; r.head(lane) == nil {
		r.lanes &^= 1 << lane
	}
	return true
}
