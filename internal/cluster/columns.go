package cluster

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/quota"
)

// Columns numbers the flavor-resources. A number, once given, stays: the loads of
// running workloads hold it. A Columns is immutable.
type Columns struct {
	names []quota.FlavorResource
	index map[quota.FlavorResource]int
}

// Len returns how many columns there are.
func (c *Columns) Len() int { return len(c.names) }

// Name returns the flavor-resource of a column.
func (c *Columns) Name(column int) quota.FlavorResource { return c.names[column] }

// Number returns the column of a flavor-resource; -1, which has no quota and no
// usage anywhere, for one without number.
func (c *Columns) Number(fr quota.FlavorResource) int {
	if column, known := c.index[fr]; known {
		return column
	}
	return -1
}

// with returns the columns with those that are new among frs, in their order.
func (c *Columns) with(frs []quota.FlavorResource) *Columns {
	grown := c
	for _, fr := range frs {
		if _, known := grown.index[fr]; known {
			continue
		}
		if grown == c {
			grown = &Columns{names: slices.Clone(c.names), index: maps.Clone(c.index)}
			if grown.index == nil {
				grown.index = make(map[quota.FlavorResource]int)
			}
		}
		grown.index[fr] = len(grown.names)
		grown.names = append(grown.names, fr)
	}
	return grown
}
