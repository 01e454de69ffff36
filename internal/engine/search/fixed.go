package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/quota"
)

// FixedShortages returns what a request that never yields lacks of the quotas that its shares guarantee, of the nearest
// node in which it does.
func (s *Search) FixedShortages() []Shortage {
	e := s.Request.Entitled
	for node, resource := range right.EachOverFixed(&s.Case) {
		requested := int64(0)
		slot := -1
		for i, amount := range s.Request.Amounts {
			if amount > 0 && slices.Contains(e.Columns[resource], s.Request.Columns[i]) {
				requested = quota.Add(requested, amount)
				slot = i
			}
		}
		free := quota.Sub(e.Of(node, resource).Quota, e.Fixed(s.Cluster, node, resource))
		return []Shortage{{Slot: slot, Missing: quota.Sub(requested, free), Bound: node, NeverYields: true}}
	}
	return nil
}
