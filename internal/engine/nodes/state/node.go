package state

import (
	"math"
	"slices"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Node is a node in a snapshot. It is immutable.
type Node struct { // what a search reads of every node comes first
	Levels   []Level
	Capacity []int64 // by column; columns past the end are zero
	Above    []int64 // a row for each level: what pods of that level and higher ones use; and a row of zeros
	Leaves   bool    // a pod terminates
	Claims   bool    // a running or nominated pod holds a claim
	Number   int32
	Facts    workload.Node
	Largest  []int64 // by column: the most that one pod uses
	Pods     []*Pod  // running, by ID
	Briefs   []Brief // of the pods
	Promised []*Pod  // nominated, by ID
}

// Brief is what a search asks about most pods of a node. Pods are far apart in memory.
type Brief struct {
	Priority int32
	Budget   int32 // the slot of the only budget that covers it; NoBudget, SeveralBudgets
	Leaving  bool  // it terminates
	Grouped  bool  // it names a group
	Whole    bool  // it yields only with its group
}

// The slots of pods that several budgets cover, or none.
const (
	SeveralBudgets = -1
	NoBudget       = -2
)

func (p *Pod) brief() Brief {
	b := Brief{p.Priority, NoBudget, p.Facts.Terminating, p.Facts.Group != "", p.Single == nil}
	if len(p.Budgets) > 0 {
		b.Budget = p.Budgets[0]
	}
	if len(p.Budgets) > 1 {
		b.Budget = SeveralBudgets
	}
	return b
}

// IsCovered reports whether a budget covers the pod.
func (b Brief) IsCovered() bool { return b.Budget != NoBudget }

// Class returns the class of the pod, without what other pods of the class decide.
func (b Brief) Class() Class { return Class{Priority: b.Priority, Leaving: b.Leaving} }

// Level is the pods of one class on a node. Levels rise by priority.
type Level struct {
	Class
	Pods   int32
	Latest int64 // the latest start of one of them; JustNow if a start is unknown
}

// Class is what the pods of a level have in common. Terminating pods have classes of their own.
type Class struct {
	Priority int32
	Leaving  bool // they terminate
	Covered  bool // a budget covers one of them
	Grouped  bool // one of them names a group
}

// Rank is the order of levels: by priority, terminating pods after the others.
func (c Class) Rank() int64 {
	if c.Leaving {
		return int64(c.Priority)*2 + 1
	}
	return int64(c.Priority) * 2
}

// classOf is the inverse of Rank.
func classOf(rank int64) Class { return Class{Priority: int32(rank >> 1), Leaving: rank&1 == 1} }

// Class is [Brief.Class].
func (p *Pod) Class() Class { return p.brief().Class() }

// nodeMemory is memory for the parts of nodes without pointers. Nodes that are made together have these parts next to
// each other, in the order in which a search reads them.
type nodeMemory struct {
	amounts []int64
	levels  []Level
	briefs  []Brief
	chunk   int // how many items are made at once
}

// part takes the next n items of a list. A list with fewer items becomes a new chunk first.
func part[T any](from *[]T, n, chunk int) []T {
	if len(*from) < n {
		*from = make([]T, max(n, chunk))
	}
	list := (*from)[:n:n]
	*from = (*from)[n:]
	return list
}

// newNode builds a node. ok is false if the usage of a resource is out of bounds.
func newNode(c *Columns, facts workload.Node, number int32, pods, promised []*Pod, memory *nodeMemory) (n *Node, ok bool) {
	n = &Node{Facts: facts, Number: number, Pods: pods, Promised: promised}
	n.addLevels(memory)
	holds := func(p *Pod) bool { return len(p.Facts.Claims) > 0 }
	n.Claims = slices.ContainsFunc(pods, holds) || slices.ContainsFunc(promised, holds)
	width := len(c.Names)
	amounts := part(&memory.amounts, (len(n.Levels)+3)*width, memory.chunk)
	n.Capacity, n.Largest, n.Above = amounts[:width:width], amounts[width:2*width:2*width], amounts[2*width:]
	n.Capacity[PodsColumn] = quota.Unlimited
	for name, value := range facts.Capacity {
		n.Capacity[c.number[name]] = value
	}
	for i, p := range pods {
		b := n.Briefs[i]
		at := n.levelOf(b.Class())
		l := &n.Levels[at]
		l.Covered, l.Grouped = l.Covered || b.IsCovered(), l.Grouped || b.Grouped
		l.Latest = max(l.Latest, p.startOf())
		l.Pods++
		row := n.Above[at*width:]
		for _, a := range p.Takes {
			row[a.Column] = quota.Add(row[a.Column], a.Value)
			n.Largest[a.Column] = max(n.Largest[a.Column], a.Value)
		}
	}
	for i := len(n.Levels)*width - 1; i >= 0; i-- {
		n.Above[i] = quota.Add(n.Above[i], n.Above[i+width])
	}
	return n, n.countable()
}

// addLevels lists the briefs of the pods, and their classes as levels without pods.
func (n *Node) addLevels(memory *nodeMemory) {
	if len(n.Pods) == 0 {
		return
	}
	n.Briefs = part(&memory.briefs, len(n.Pods), memory.chunk)
	var list [32]int64
	ranks := list[:0]
	for i, p := range n.Pods {
		b := p.brief()
		n.Briefs[i], n.Leaves, ranks = b, n.Leaves || b.Leaving, append(ranks, b.Class().Rank())
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	n.Levels = part(&memory.levels, len(ranks), memory.chunk)
	for i, rank := range ranks {
		n.Levels[i] = Level{Class: classOf(rank), Latest: math.MinInt64}
	}
}

// Width is the number of columns.
func (n *Node) Width() int { return len(n.Capacity) }

// countable reports whether all usage, with that of nominated pods, is within bounds.
func (n *Node) countable() bool {
	total := n.InUse()
	if len(n.Promised) > 0 {
		total = slices.Clone(total)
	}
	for _, p := range n.Promised {
		for _, a := range p.Takes {
			total[a.Column] = quota.Add(total[a.Column], a.Value)
		}
	}
	return slices.Max(total) <= quota.MaxUsage
}

// InUse returns what the running pods use in all, by column, without what they hold in claims.
func (n *Node) InUse() []int64 { return n.Above[:n.Width()] }

// Used returns what the pods of a level use.
func (n *Node) Used(level int, column int32) int64 {
	cell := level*n.Width() + int(column)
	return n.Above[cell] - n.Above[cell+n.Width()]
}

// LevelsUpTo counts the levels up to a priority.
func (n *Node) LevelsUpTo(priority int64) (count int) {
	for count < len(n.Levels) && int64(n.Levels[count].Priority) <= priority {
		count++
	}
	return count
}

// levelOf returns where the level of a class is, or would be.
func (n *Node) levelOf(c Class) int {
	low, high := 0, len(n.Levels)
	for rank := c.Rank(); low < high; {
		if middle := (low + high) / 2; n.Levels[middle].Rank() < rank {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
