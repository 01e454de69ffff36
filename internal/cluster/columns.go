package cluster

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
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
	if len(c.names) <= fewColumns { // to compare is cheaper than to hash
		return slices.Index(c.names, fr)
	}
	if column, known := c.index[fr]; known {
		return column
	}
	return -1
}

const fewColumns = 8

// with returns the columns with those that the workload uses and that are new.
func (c *Columns) with(w *workload.Workload) *Columns {
	if c.know(w) {
		return c
	}
	grown := c.clone()
	grown.addUsage(w)
	return grown
}

// know reports whether all that the workload uses has a number.
func (c *Columns) know(w *workload.Workload) bool {
	for i := range w.PodSets {
		requests := w.PodSets[i].Requests
		for j := range requests {
			if c.Number(requests[j].FlavorResource()) < 0 {
				return false
			}
		}
	}
	return true
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

// addUsage numbers what the workload uses, in the order of names.
func (c *Columns) addUsage(w *workload.Workload) {
	for _, u := range w.Usage() {
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
