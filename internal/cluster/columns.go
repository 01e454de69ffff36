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

// with returns the columns with those of usage that are new.
func (c *Columns) with(usage []quota.Amount) *Columns {
	for _, u := range usage {
		if c.Number(u.FlavorResource()) < 0 {
			grown := c.clone()
			grown.addUsage(usage)
			return grown
		}
	}
	return c
}

func (c *Columns) clone() *Columns {
	d := &Columns{slices.Clone(c.names), maps.Clone(c.index)}
	if d.index == nil {
		d.index = make(map[quota.FlavorResource]int)
	}
	return d
}

// add numbers a flavor-resource, in columns that nobody else has yet.
func (c *Columns) add(fr quota.FlavorResource) {
	if _, known := c.index[fr]; !known {
		c.index[fr] = len(c.names)
		c.names = append(c.names, fr)
	}
}

func (c *Columns) addUsage(usage []quota.Amount) {
	for _, u := range usage {
		c.add(u.FlavorResource())
	}
}

// resources returns the names of all resources, sorted, and for each column the index
// of its own.
func (c *Columns) resources() (names []string, byColumn []int) {
	for _, fr := range c.names {
		names = append(names, fr.Resource)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	byColumn = make([]int, len(c.names))
	for column, fr := range c.names {
		byColumn[column], _ = slices.BinarySearch(names, fr.Resource)
	}
	return names, byColumn
}
