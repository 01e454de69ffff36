package nodes

import (
	"cmp"
	"slices"

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
type node struct {
	Facts     workload.Node
	number    int32
	capacity  []int64 // by column; columns past the end are zero
	pods      []*Pod  // running, by ID
	nominated []*Pod  // by ID
	// levels holds what runs, by priority, rising; terminating pods have levels of their own.
	levels []level
	width  int     // the columns of a row of usage
	usage  []int64 // one row for each level
}

// level is the pods of one priority on a node.
type level struct {
	priority int32
	leaving  bool // they terminate
	covered  bool // a budget covers one of them
	grouped  bool // one of them names a group
	pods     int32
}

func (l level) compare(other level) int {
	if order := cmp.Compare(l.priority, other.priority); order != 0 || l.leaving == other.leaving {
		return order
	}
	if other.leaving {
		return -1
	}
	return 1
}

func (p *Pod) level() level { return level{priority: p.priority, leaving: p.Facts.Terminating} }

// newNode builds a node. ok is false if the usage of a resource is out of bounds.
func newNode(c *columns, facts workload.Node, number int32, pods, nominated []*Pod) (n *node, ok bool) {
	n = &node{Facts: facts, number: number, pods: pods, nominated: nominated, width: len(c.names)}
	n.capacity = make([]int64, n.width)
	n.capacity[podsColumn] = quota.Unlimited
	for name, value := range facts.Capacity {
		n.capacity[c.number[name]] = value
	}
	if len(pods) > 0 {
		for _, p := range pods {
			n.levels = append(n.levels, p.level())
		}
		slices.SortFunc(n.levels, level.compare)
		n.levels = slices.CompactFunc(n.levels, func(a, b level) bool { return a.compare(b) == 0 })
	}
	n.usage = make([]int64, len(n.levels)*n.width)
	for _, p := range pods {
		at := n.levelOf(p.level())
		n.levels[at].covered = n.levels[at].covered || len(p.budgets) > 0
		n.levels[at].grouped = n.levels[at].grouped || p.Facts.Group != ""
		n.levels[at].pods++
		row := n.usage[at*n.width:]
		for _, a := range p.takes {
			row[a.column] = quota.Add(row[a.column], a.value)
		}
	}
	total := make([]int64, n.width)
	for i, value := range n.usage {
		total[i%n.width] = quota.Add(total[i%n.width], value)
	}
	for _, p := range nominated {
		for _, a := range p.takes {
			total[a.column] = quota.Add(total[a.column], a.value)
		}
	}
	return n, slices.Max(total) <= quota.MaxUsage
}

func (n *node) levelOf(l level) int {
	at, _ := slices.BinarySearchFunc(n.levels, l, level.compare)
	return at
}
