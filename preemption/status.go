package preemption

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/quota"
)

// QuotaStatus holds the numbers of one node in one column, in the unit of the resource.
type QuotaStatus struct {
	quota.FlavorResource
	// Nominal is the node's own quota. SubtreeQuota is, for a cohort, its quota with what its
	// members lend. Usage is what runs; for a cohort, what its members use beyond their local
	// quotas.
	Nominal      int64 `json:"nominal"`
	SubtreeQuota int64 `json:"subtreeQuota"`
	Usage        int64 `json:"usage"`
	// Available is what can still be taken, negative if over-admitted. PotentialAvailable is
	// what could be taken if nothing ran anywhere.
	Available          int64 `json:"available"`
	PotentialAvailable int64 `json:"potentialAvailable"`
	// Borrowed is the usage over SubtreeQuota. Lent is what others use of the node's idle
	// quota.
	Borrowed int64 `json:"borrowed"`
	Lent     int64 `json:"lent"`
	// Over is what the node uses beyond what it may use; see [Excess].
	Over int64 `json:"over,omitzero"`
}

// QueueStatus returns the numbers of a queue for each column in which it has quota or usage,
// and for the given columns, sorted by flavor and resource; ok is false for an unknown queue.
func (s *Snapshot) QueueStatus(name string, besides ...quota.FlavorResource) (rows []QuotaStatus, ok bool) {
	c := s.inside()
	node, ok := c.QueueNode(name)
	if !ok {
		return nil, false
	}
	return status(c, node, besides), true
}

// CohortStatus returns the numbers of a cohort for each column in which it or its subtree has
// quota or usage; see [Snapshot.QueueStatus].
func (s *Snapshot) CohortStatus(name string, besides ...quota.FlavorResource) (rows []QuotaStatus, ok bool) {
	c := s.inside()
	node, ok := c.CohortNode(name)
	if !ok {
		return nil, false
	}
	return status(c, node, besides), true
}

func status(c *cluster.Cluster, node int, besides []quota.FlavorResource) []QuotaStatus {
	names := slices.Clone(besides)
	for column := range c.Tree.EachColumn(node) {
		names = append(names, c.Columns.Name(column))
	}
	for _, l := range c.Usage.Row(node) {
		names = append(names, c.Columns.Name(l.Column))
	}
	slices.SortFunc(names, quota.FlavorResource.Compare)
	names = slices.Compact(names)
	rows := make([]QuotaStatus, len(names))
	for i, fr := range names {
		column := c.Columns.Number(fr)
		cell := c.Tree.Cell(node, column)
		rows[i] = QuotaStatus{
			FlavorResource:     fr,
			Nominal:            cell.Nominal,
			SubtreeQuota:       cell.SubtreeQuota,
			Usage:              c.Usage.At(node, column),
			Available:          c.Usage.Available(node, column),
			PotentialAvailable: c.Tree.PotentialAvailable(node, column),
			Borrowed:           c.Usage.Borrowed(node, column),
			Lent:               c.Usage.Lent(node, column),
			Over:               max(0, c.Usage.Over(node, column)),
		}
	}
	return rows
}
