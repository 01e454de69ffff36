package cluster

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/ordered"
	"github.com/cedesched/cede/internal/vector"
)

// Head is the first workload of a lane in the queue, or in the queues that can be
// reached in the cohort, at Node. A child can be reached that borrows: that uses more
// than its subtree quota of any column.
type Head struct {
	Workload *Workload
	Lane     Lane
	Node     int32
}

// Heads are those of a cohort's children, by lane, then in the order of candidates: who
// reclaims from the cohort finds the first candidate at the front, without a look at
// the queues that come later.
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

// Heads returns the heads of the cohort at the node.
func (c *Cluster) Heads(cohort int) Heads { return c.heads.At(cohort) }

// SeekLane moves the cursor to the first head of the lane.
func SeekLane(cursor *HeadCursor, heads Heads, lane Lane) {
	cursor.Seek(heads, func(h Head) bool { return h.Lane < lane })
}

// borrows reports whether the node uses more than its subtree quota of any column.
func (c *Cluster) borrows(node int) bool {
	for _, l := range c.Usage.Row(node) {
		if cell := c.Tree.Cell(node, l.Column); !cell.WithinNominal(l.Amount) {
			return true
		}
	}
	return false
}

// Head returns the first workload of a lane at or under a node; nil without.
func (c *Cluster) Head(node int, lane Lane) *Workload {
	if c.IsQueue(node) {
		w, _ := c.Running(node).Lane(lane).First()
		return w
	}
	var cursor HeadCursor
	SeekLane(&cursor, c.Heads(node), lane)
	if h, ok := cursor.Item(); ok && h.Lane == lane {
		return h.Workload
	}
	return nil
}

// allHeads computes the heads of every cohort, from the bottom up.
func (c *Cluster) allHeads() vector.Vector[Heads] {
	lists := make([][]Head, len(c.Cohorts))
	sets := make([]Heads, len(c.Cohorts))
	push := func(node int) {
		parent := c.Tree.Parent(node)
		if parent < 0 || !c.borrows(node) {
			return
		}
		for lane := range Lanes {
			w := (*Workload)(nil)
			if c.IsQueue(node) {
				w = c.Head(node, lane)
			} else if i := slices.IndexFunc(lists[node], func(h Head) bool { return h.Lane == lane }); i >= 0 {
				w = lists[node][i].Workload
			}
			if w != nil {
				lists[parent] = append(lists[parent], Head{w, lane, int32(node)})
			}
		}
	}
	for q := range c.Queues {
		push(len(c.Cohorts) + q)
	}
	bottomUp := make([]int, len(c.Cohorts))
	for i := range bottomUp {
		bottomUp[i] = i
	}
	slices.SortStableFunc(bottomUp, func(a, b int) int { return cmp.Compare(c.Tree.Depth(b), c.Tree.Depth(a)) })
	for _, cohort := range bottomUp {
		slices.SortFunc(lists[cohort], headOrder.Compare)
		sets[cohort] = ordered.Of(headOrder, lists[cohort])
		push(cohort)
	}
	return vector.Of(sets)
}

// updateHeads brings the heads above a queue up to date with its lanes and usage, in a
// cluster that nobody else has yet; before is what it was made from.
func (c *Cluster) updateHeads(before *Cluster, node int, changed laneMask) {
	for parent := c.Tree.Parent(node); parent >= 0; node, parent = parent, c.Tree.Parent(parent) {
		did, does := before.borrows(node), c.borrows(node)
		if did != does {
			changed = allLanes
		}
		if !did && !does {
			changed = 0
		}
		if changed == 0 {
			continue
		}
		heads := c.Heads(parent)
		for lane := range Lanes {
			if changed>>lane&1 == 0 {
				continue
			}
			var old, now *Workload
			if did {
				old = before.Head(node, lane)
			}
			if does {
				now = c.Head(node, lane)
			}
			if old == now {
				changed &^= 1 << lane
				continue
			}
			if old != nil {
				heads, _ = heads.Delete(Head{old, lane, int32(node)})
			}
			if now != nil {
				heads = heads.Insert(Head{now, lane, int32(node)})
			}
		}
		if changed != 0 {
			c.heads = c.heads.Set(parent, heads)
		}
	}
}
