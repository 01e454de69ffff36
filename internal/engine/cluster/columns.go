package cluster

import (
	"slices"
	"strconv"

	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Columns numbers the columns: those of quotas, which change only with the configuration, and
// those that only workloads name. A column keeps its number as long as a quota or a running
// workload names it; then the number is reused. A Columns is immutable.
type Columns struct {
	names   []quota.FlavorResource // of columns with quota
	numbers []int                  // their numbers
	index   map[quota.FlavorResource]int
	at      []int32 // by number: 1 + its index in names; 0: without quota

	others         trie.Map[*column] // columns without quota
	othersByNumber trie.Map[*column]
	free           *number // below size
	size           int     // all numbers are less
}

// column is a column without quota, with the number of running workloads that name it.
type column struct {
	quota.FlavorResource
	number int
	users  int
}

// number is a list of free numbers.
type number struct {
	number int
	next   *number
}

func newColumns() *Columns {
	return &Columns{
		others:         trie.New(func(c *column) string { return keyOf(c.FlavorResource) }),
		othersByNumber: trie.New(func(c *column) string { return strconv.Itoa(c.number) }),
	}
}

// keyOf returns a string that is unique to the column.
func keyOf(fr quota.FlavorResource) string {
	return strconv.Itoa(len(fr.Flavor)) + " " + fr.Flavor + fr.Resource
}

// Name returns the flavor and resource of a column.
func (c *Columns) Name(column int) quota.FlavorResource {
	if c.isOfQuotas(column) {
		return c.names[c.at[column]-1]
	}
	other, _ := c.othersByNumber.Get(strconv.Itoa(column))
	return other.FlavorResource
}

// Number returns the number of a column; -1, which has no quota and no usage anywhere, if it
// has none.
func (c *Columns) Number(fr quota.FlavorResource) int {
	if column := c.ofQuotas(fr); column >= 0 {
		return column
	}
	if c.others.Len() > 0 {
		if other, known := c.others.Get(keyOf(fr)); known {
			return other.number
		}
	}
	return -1
}

// ofQuotas is Number for columns with quota; -1 for others.
func (c *Columns) ofQuotas(fr quota.FlavorResource) int {
	if len(c.names) <= fewColumns { // comparing is cheaper than hashing
		if i := slices.Index(c.names, fr); i >= 0 {
			return c.numbers[i]
		}
		return -1
	}
	if column, known := c.index[fr]; known {
		return column
	}
	return -1
}

const fewColumns = 8

// OfResource returns the columns with quota of a resource.
func (c *Columns) OfResource(resource string) (list []int) {
	for i, fr := range c.names {
		if fr.Resource == resource {
			list = append(list, c.numbers[i])
		}
	}
	return list
}

func (c *Columns) isOfQuotas(column int) bool { return column < len(c.at) && c.at[column] > 0 }

// with returns the columns with one more workload, which may name new ones.
func (c *Columns) with(w *workload.Workload) *Columns {
	var more []quota.FlavorResource // most workloads name only columns with quota
	for i := range w.PodSets {
		requests := w.PodSets[i].Requests
		for j := range requests {
			if fr := requests[j].FlavorResource(); c.ofQuotas(fr) < 0 && !slices.Contains(more, fr) {
				more = append(more, fr)
			}
		}
	}
	if len(more) == 0 {
		return c
	}
	slices.SortFunc(more, quota.FlavorResource.Compare)
	next := *c
	for _, fr := range more {
		other, known := next.others.Get(keyOf(fr))
		if !known {
			other = &column{fr, next.take(), 0}
		}
		next.setOther(&column{fr, other.number, other.users + 1})
	}
	return &next
}

// without returns the columns with one workload less, the one with the loads.
func (c *Columns) without(loads []quotatree.Load) *Columns {
	next := c
	for _, l := range loads {
		if c.isOfQuotas(l.Column) {
			continue
		}
		if next == c {
			copied := *c
			next = &copied
		}
		other, _ := next.othersByNumber.Get(strconv.Itoa(l.Column))
		if other.users > 1 {
			next.setOther(&column{other.FlavorResource, other.number, other.users - 1})
		} else {
			next.deleteOther(other)
			next.free = &number{other.number, next.free}
		}
	}
	return next
}

// take returns a number that is free, of columns that no other cluster has yet.
func (c *Columns) take() int {
	if c.free != nil {
		n := c.free.number
		c.free = c.free.next
		return n
	}
	c.size++
	return c.size - 1
}

func (c *Columns) setOther(other *column) {
	c.others, c.othersByNumber = c.others.Set(other), c.othersByNumber.Set(other)
}

func (c *Columns) deleteOther(other *column) {
	c.others, _ = c.others.Delete(keyOf(other.FlavorResource))
	c.othersByNumber, _ = c.othersByNumber.Delete(strconv.Itoa(other.number))
}

// configured returns the columns of another configuration, in which quotas name these.
// users counts the running workloads that use a column.
func (c *Columns) configured(names []quota.FlavorResource, users func(column int) int) *Columns {
	next := &Columns{others: c.others, othersByNumber: c.othersByNumber, free: c.free, size: c.size, index: make(map[quota.FlavorResource]int)}
	for _, fr := range names {
		if _, known := next.index[fr]; known {
			continue
		}
		n := c.ofQuotas(fr)
		if n < 0 {
			if other, known := next.others.Get(keyOf(fr)); known {
				n = other.number
				next.deleteOther(other)
			} else {
				n = next.take()
			}
		}
		next.index[fr] = n
		next.names, next.numbers = append(next.names, fr), append(next.numbers, n)
	}
	for i, fr := range c.names {
		if _, kept := next.index[fr]; kept {
			continue
		}
		if n := users(c.numbers[i]); n > 0 {
			next.setOther(&column{fr, c.numbers[i], n})
		} else {
			next.free = &number{c.numbers[i], next.free}
		}
	}
	next.at = make([]int32, next.size)
	for i, n := range next.numbers {
		next.at[n] = int32(i + 1)
	}
	return next
}

// resources returns the names of all resources of quotas, sorted, and for each of their
// columns the index of its own.
func (c *Columns) resources() (names []string, byColumn []int) {
	for _, fr := range c.names {
		names = append(names, fr.Resource)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	byColumn = make([]int, c.size)
	for i, fr := range c.names {
		byColumn[c.numbers[i]], _ = slices.BinarySearch(names, fr.Resource)
	}
	return names, byColumn
}
