package room

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/quota"
)

// Rows has what runs on a node, by node and slot: what stays at every floor, what terminates, and a row for each
// class of pods that may yield. A node is counted when it is asked about: many are not.
type Rows struct {
	Grid
	AnyLeaving bool    // a terminating pod is waited for
	Levels     []int32 // priorities of running pods below that of the request, rising

	capacity, fixed, leaving []int64
	isCounted                []bool  // by node
	from, to                 []int32 // by node: its rows are [from, to)
	classes                  []state.Class
	level                    []int32 // by row: the index in Levels
	pods                     []int32 // by row: its pods, without pods of units that stay
	yields                   []int64 // by row and slot: what these pods use
	none                     []int64 // by slot: zero
	least                    least
}

func (r *Rows) begin() {
	r.Grid.begin()
	r.Levels = r.Cluster.LevelsBelow(r.Levels[:0], r.Priority)
	n, width := len(r.Nodes), r.Width()
	r.capacity, r.fixed, r.leaving = Resize(r.capacity, n*width), Resize(r.fixed, n*width), Resize(r.leaving, n*width)
	r.from, r.to, r.isCounted = Resize(r.from, n), Resize(r.to, n), Resize(r.isCounted, n)
	clear(r.isCounted)
	r.classes, r.level, r.pods, r.yields = r.classes[:0], r.level[:0], r.pods[:0], r.yields[:0]
	r.none = Resize(r.none, width)
	r.AnyLeaving = false
	for i, node := range r.Nodes {
		if node.Leaves {
			r.count(i)
		}
	}
	if r.Request.Rules.AreWide() && !r.AsBuilt && !r.AnyLeaving { // a terminating pod on any node may be in conflict
		for p := range r.Cluster.Running.All {
			if r.AnyLeaving = p.Facts.Terminating && !r.Stuck(p); r.AnyLeaving {
				break
			}
		}
	}
}

// row returns the amounts of a node or row in a list.
func (r *Rows) row(list []int64, at int) []int64 {
	width := len(r.Slots)
	return list[at*width:][:width]
}

// of returns the range of the rows of a node.
func (r *Rows) of(i int) (from, to int) {
	r.count(i)
	return int(r.from[i]), int(r.to[i])
}

// Classes returns the classes of the pods on a node that may yield, by priority.
func (r *Rows) Classes(i int) []state.Class {
	from, to := r.of(i)
	return r.classes[from:to]
}

// AnyRow reports whether a pod of lower priority runs in the domain.
func (r *Rows) AnyRow(d Domain) bool {
	for i := d.From; i < d.To; i++ {
		if len(r.Classes(i)) > 0 {
			return true
		}
	}
	return false
}

// Capacity returns the capacity of a node.
func (r *Rows) Capacity(i, slot int) int64 { return r.row(r.capacity, i)[slot] }

// ExpectAll makes room for the rows of all nodes, for a caller that asks about each node.
func (r *Rows) ExpectAll() {
	rows := 0
	for _, n := range r.Nodes {
		rows += len(n.Levels)
	}
	r.classes, r.level, r.pods = slices.Grow(r.classes, rows), slices.Grow(r.level, rows), slices.Grow(r.pods, rows)
	r.yields = slices.Grow(r.yields, rows*len(r.Slots))
}

// count adds up what runs on a node, once for each search.
func (r *Rows) count(i int) {
	if r.isCounted[i] {
		return
	}
	r.isCounted[i], r.from[i] = true, int32(len(r.classes))
	n := r.Nodes[i]
	capacity, fixed, leaving := r.row(r.capacity, i), r.row(r.fixed, i), r.row(r.leaving, i)
	clear(fixed)
	clear(leaving)
	for slot, column := range r.columns {
		capacity[slot] = 0
		if column >= 0 && int(column) < n.Width() {
			capacity[slot] = n.Capacity[column]
		}
	}
	someLeave := false
	for at, l := range n.Levels {
		into := fixed
		switch {
		case l.Leaving && !r.AsBuilt:
			into, someLeave = leaving, true
		case l.Priority < r.Priority:
			into = r.addRow(l)
		}
		for slot, column := range r.columns {
			if column >= 0 && int(column) < n.Width() {
				into[slot] += n.Used(at, column)
			}
		}
	}
	if someLeave {
		r.fixStuck(n, fixed, leaving)
	}
	for _, p := range n.Promised {
		if !r.IsAhead(p) {
			continue
		}
		for _, a := range p.Takes {
			if slot := r.SlotOf(a); slot >= 0 {
				fixed[slot] = quota.Add(fixed[slot], a.Value)
			}
		}
	}
	r.to[i] = int32(len(r.classes))
}

// addRow adds a row without amounts for the pods of a level.
func (r *Rows) addRow(l state.Level) []int64 {
	start := len(r.yields)
	r.classes = append(r.classes, l.Class)
	level, _ := slices.BinarySearch(r.Levels, l.Priority)
	r.level, r.pods = append(r.level, int32(level)), append(r.pods, l.Pods)
	r.yields = append(r.yields, r.none...)
	return r.yields[start:]
}

// fixStuck counts terminating pods of a node that are not waited for as running.
func (r *Rows) fixStuck(n *state.Node, fixed, leaving []int64) {
	for _, p := range n.Pods {
		switch {
		case !p.Facts.Terminating:
		case !r.Stuck(p):
			r.AnyLeaving = true
		default:
			for _, a := range p.Takes {
				if slot := r.SlotOf(a); slot >= 0 {
					fixed[slot] += a.Value
					leaving[slot] -= a.Value
				}
			}
		}
	}
}

// cells are what a pod takes, in a row of a node.
type cells struct {
	node, row int
	takes     []state.Amount
}

// cellsOf returns the cells of a class of pods on a node.
func (r *Rows) cellsOf(i int, c state.Class, takes []state.Amount) cells {
	row, _ := r.of(i)
	for want := c.Rank(); r.classes[row].Rank() != want; {
		row++
	}
	return cells{i, row, takes}
}

// fix counts a pod that may yield as one that stays; with -1 the reverse.
func (r *Rows) fix(c cells, sign int64) {
	width := len(r.Slots)
	r.pods[c.row] -= int32(sign)
	for _, a := range c.takes {
		if slot := r.SlotOf(a); slot >= 0 {
			r.fixed[c.node*width+slot] += sign * a.Value
			r.yields[c.row*width+slot] -= sign * a.Value
		}
	}
}
