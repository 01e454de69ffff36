package nodes

import (
	"cmp"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// podsColumn is the column of PodsResource.
const podsColumn = 0

// columns numbers the resources. It is immutable.
type columns struct {
	names  []string
	number map[string]int32
}

func newColumns(names []string) *columns {
	c := &columns{names: names, number: make(map[string]int32, len(names))}
	for i, name := range names {
		c.number[name] = int32(i)
	}
	return c
}

// of returns the column of a resource, or -1 if there is none.
func (c *columns) of(resource string) int32 {
	if n, ok := c.number[resource]; ok {
		return n
	}
	return -1
}

// takes appends what a pod takes, by column, to list, which must be empty.
func (c *columns) takes(list []amount, r workload.Resources) []amount {
	list = append(list, amount{podsColumn, 1})
	for name, value := range r {
		if value > 0 {
			list = append(list, amount{c.number[name], value})
		}
	}
	slices.SortFunc(list, func(a, b amount) int { return cmp.Compare(a.column, b.column) })
	return list
}

// node is a node in a snapshot. It is immutable.
type node struct { // what a search reads of every node comes first
	levels    []level
	capacity  []int64 // by column; columns past the end are zero
	above     []int64 // a row for each level: what pods of that level and higher ones use; and a row of zeros
	leaves    bool    // a pod terminates
	number    int32
	Facts     workload.Node
	largest   []int64 // by column: the most that one pod uses
	pods      []*Pod  // running, by ID
	briefs    []brief // of the pods
	nominated []*Pod  // by ID
}

// brief is what a search asks about most pods of a node. Pods are far apart in memory.
type brief struct {
	priority int32
	budget   int32 // the slot of the only one that covers it; noBudget, severalBudgets
	leaving  bool  // it terminates
	grouped  bool  // it names a group
	whole    bool  // it yields only with its group
}

const (
	severalBudgets = -1
	noBudget       = -2
)

func (p *Pod) brief() brief {
	b := brief{p.priority, noBudget, p.Facts.Terminating, p.Facts.Group != "", p.single == nil}
	if len(p.budgets) > 0 {
		b.budget = p.budgets[0]
	}
	if len(p.budgets) > 1 {
		b.budget = severalBudgets
	}
	return b
}

func (b brief) isCovered() bool { return b.budget != noBudget }

func (b brief) class() class { return class{priority: b.priority, leaving: b.leaving} }

// level is the pods of one class on a node. Levels rise by priority.
type level struct {
	class
	pods   int32
	latest int64 // the latest start of one of them; justNow if one is unknown
}

// class is what the pods of a level have in common. Terminating pods have classes of their own.
type class struct {
	priority int32
	leaving  bool // they terminate
	covered  bool // a budget covers one of them
	grouped  bool // one of them names a group
}

// rank is the order of levels: by priority, terminating pods after the others.
func (c class) rank() int64 {
	if c.leaving {
		return int64(c.priority)*2 + 1
	}
	return int64(c.priority) * 2
}

// classOf is the inverse of rank.
func classOf(rank int64) class { return class{priority: int32(rank >> 1), leaving: rank&1 == 1} }

func (p *Pod) class() class { return p.brief().class() }

// startOf returns when a pod started; justNow if that is not known.
func (p *Pod) startOf() int64 {
	if p.Facts.Started.IsZero() {
		return justNow
	}
	return instant.Of(p.Facts.Started)
}

// nodeRoom is memory for the parts of nodes without pointers: many nodes that are made at once
// have these next to each other, as a search reads them.
type nodeRoom struct {
	amounts []int64
	levels  []level
	briefs  []brief
	chunk   int // so many items are made at once
}

// part returns the next n items of a list, which becomes a new chunk if it has too few.
func part[T any](room *[]T, n, chunk int) []T {
	if len(*room) < n {
		*room = make([]T, max(n, chunk))
	}
	list := (*room)[:n:n]
	*room = (*room)[n:]
	return list
}

// newNode builds a node. ok is false if the usage of a resource is out of bounds.
func newNode(c *columns, facts workload.Node, number int32, pods, nominated []*Pod, room *nodeRoom) (n *node, ok bool) {
	n = &node{Facts: facts, number: number, pods: pods, nominated: nominated}
	n.addLevels(room)
	width := len(c.names)
	amounts := part(&room.amounts, (len(n.levels)+3)*width, room.chunk)
	n.capacity, n.largest, n.above = amounts[:width:width], amounts[width:2*width:2*width], amounts[2*width:]
	n.capacity[podsColumn] = quota.Unlimited
	for name, value := range facts.Capacity {
		n.capacity[c.number[name]] = value
	}
	for i, p := range pods {
		b := n.briefs[i]
		at := n.levelOf(b.class())
		l := &n.levels[at]
		l.covered, l.grouped = l.covered || b.isCovered(), l.grouped || b.grouped
		l.latest = max(l.latest, p.startOf())
		l.pods++
		row := n.above[at*width:]
		for _, a := range p.takes {
			row[a.column] = quota.Add(row[a.column], a.value)
			n.largest[a.column] = max(n.largest[a.column], a.value)
		}
	}
	for i := len(n.levels)*width - 1; i >= 0; i-- {
		n.above[i] = quota.Add(n.above[i], n.above[i+width])
	}
	return n, n.countable()
}

// addLevels lists the briefs of the pods, and their classes as levels without pods.
func (n *node) addLevels(room *nodeRoom) {
	if len(n.pods) == 0 {
		return
	}
	n.briefs = part(&room.briefs, len(n.pods), room.chunk)
	var list [32]int64
	ranks := list[:0]
	for i, p := range n.pods {
		b := p.brief()
		n.briefs[i], n.leaves, ranks = b, n.leaves || b.leaving, append(ranks, b.class().rank())
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	n.levels = part(&room.levels, len(ranks), room.chunk)
	for i, rank := range ranks {
		n.levels[i] = level{class: classOf(rank), latest: math.MinInt64}
	}
}

func (n *node) width() int { return len(n.capacity) }

// countable reports whether all usage, with that of nominated pods, is within bounds.
func (n *node) countable() bool {
	total := n.above[:n.width()]
	if len(n.nominated) > 0 {
		total = slices.Clone(total)
	}
	for _, p := range n.nominated {
		for _, a := range p.takes {
			total[a.column] = quota.Add(total[a.column], a.value)
		}
	}
	return slices.Max(total) <= quota.MaxUsage
}

// used returns what the pods of a level use.
func (n *node) used(level int, column int32) int64 {
	cell := level*n.width() + int(column)
	return n.above[cell] - n.above[cell+n.width()]
}

// levelsUpTo counts the levels up to a priority.
func (n *node) levelsUpTo(priority int64) (count int) {
	for count < len(n.levels) && int64(n.levels[count].priority) <= priority {
		count++
	}
	return count
}

// levelOf returns where the level of a class is, or would be.
func (n *node) levelOf(c class) int {
	low, high := 0, len(n.levels)
	for rank := c.rank(); low < high; {
		if middle := (low + high) / 2; n.levels[middle].rank() < rank {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
