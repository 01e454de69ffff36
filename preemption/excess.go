package preemption

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/quota"
)

// Excess is what a queue or cohort uses beyond what it may use, in one column. It may use its quota
// ([QuotaStatus.SubtreeQuota]) and, below a cohort, as much as its borrowing limit more.
type Excess struct {
	// Queue or Cohort is the name of the node; the other one is empty.
	Queue  string `json:"queue,omitempty"`
	Cohort string `json:"cohort,omitempty"`
	quota.FlavorResource
	// Amount is positive, in the unit of the resource.
	Amount int64 `json:"amount"`
}

// Excess lists what is used beyond what may be used, after quotas were lowered for instance: first the
// queues, by name; then the cohorts, those farther from the root first, then by name; of each node by flavor and
// resource. What is leaving counts; with [Snapshot.Removals] applied it does not. No decision adds to an
// excess. It costs O(queues and cohorts).
func (s *Snapshot) Excess() []Excess {
	c := s.inside()
	var list []Excess
	for node := len(c.Cohorts); node < c.Tree.Len(); node++ {
		list = appendExcess(list, c, node, Excess{Queue: c.Queue(node).Name})
	}
	cohorts := make([]int, len(c.Cohorts)) // their numbers are in the order of their names
	for i := range cohorts {
		cohorts[i] = i
	}
	slices.SortStableFunc(cohorts, func(a, b int) int { return cmp.Compare(c.Tree.Depth(b), c.Tree.Depth(a)) })
	for _, node := range cohorts {
		list = appendExcess(list, c, node, Excess{Cohort: c.Cohorts[node].Name})
	}
	return list
}

// appendExcess appends the excess of a node in each column.
func appendExcess(list []Excess, c *cluster.Cluster, node int, of Excess) []Excess {
	first := len(list)
	for _, used := range c.Usage.Row(node) {
		if of.Amount = c.Usage.Over(node, used.Column); of.Amount > 0 {
			of.FlavorResource = c.Columns.Name(used.Column)
			list = append(list, of)
		}
	}
	slices.SortFunc(list[first:], func(a, b Excess) int { return a.FlavorResource.Compare(b.FlavorResource) })
	return list
}
