package state

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/workload"
)

// PodsColumn is the column of [workload.PodsResource].
const PodsColumn = 0

// Columns numbers the resources of a cluster. It is immutable.
type Columns struct {
	Names  []string
	number map[string]int32
}

func newColumns(names []string) *Columns {
	c := &Columns{Names: names, number: make(map[string]int32, len(names))}
	for i, name := range names {
		c.number[name] = int32(i)
	}
	return c
}

// Of returns the column of a resource; -1: the cluster does not have the resource.
func (c *Columns) Of(resource string) int32 {
	if n, ok := c.number[resource]; ok {
		return n
	}
	return -1
}

// missing lists the resources that have no column, by name.
func (c *Columns) missing(r workload.Resources) (names []string) {
	for name := range r {
		if c.Of(name) < 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Amount is an amount of one column.
type Amount struct {
	Column int32
	Value  int64
}

// takes appends what a pod takes, by column, to list, which must be empty.
func (c *Columns) takes(list []Amount, r workload.Resources) []Amount {
	list = append(list, Amount{PodsColumn, 1})
	for name, value := range r {
		if value > 0 {
			list = append(list, Amount{c.number[name], value})
		}
	}
	slices.SortFunc(list, func(a, b Amount) int { return cmp.Compare(a.Column, b.Column) })
	return list
}
