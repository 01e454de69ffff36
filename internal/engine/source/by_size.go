package source

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/quota"
)

// SortBySize sorts candidates by how much they free, most first; ties keep their order.
// Surplus replicas stay before their whole workload.
func SortBySize(c *right.Case, list []right.Victim) {
	slices.SortStableFunc(list, func(a, b right.Victim) int {
		if surplus := a.Set >= 0; surplus != (b.Set >= 0) {
			if surplus {
				return -1
			}
			return 1
		}
		return cmp.Compare(size(c, &b), size(c, &a))
	})
}

// size returns how much of the request a victim frees: for each amount that needs preemption
// in thousandths of it, added up.
func size(c *right.Case, v *right.Victim) int64 {
	total := int64(0)
	for slot, needs := range c.Needs {
		amount := c.Request.Amounts[slot]
		if !needs || amount == 0 {
			continue
		}
		total += quota.Mul(1000, min(v.Load(c.Request.Columns[slot]), amount)) / amount
	}
	return total
}
