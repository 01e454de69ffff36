package preemption

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/cluster"
	"github.com/cedesched/cede/internal/fault"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Fault is one thing that is wrong with an input: where (Path) and what (Problem).
type Fault = fault.Fault

// Faults is everything that is wrong with an input, as one error. Its text is one
// line; range over it for all of them.
type Faults = fault.List

// Snapshot is an immutable cluster: configuration, running workloads, usage. Any
// number of goroutines may use one. Make it with [NewSnapshot]; the zero value is
// an empty cluster.
type Snapshot struct {
	cluster *cluster.Cluster
}

var empty = func() *cluster.Cluster {
	c, _ := cluster.New(nil, nil, nil) // nothing can be wrong with nothing
	return c
}()

func (s *Snapshot) inside() *cluster.Cluster {
	if s == nil || s.cluster == nil {
		return empty
	}
	return s.cluster
}

// NewSnapshot makes a snapshot of a state, which it copies. It fails with [Faults]
// that list everything wrong with the state, by path: what [queue.Validate] and
// [workload.Validate] find, a workload in an unknown queue, an ID twice, a usage
// over [quota.MaxUsage].
func NewSnapshot(st State) (*Snapshot, error) {
	c, err := cluster.New(st.Cohorts, st.Queues, st.Admitted)
	if err != nil {
		return nil, err
	}
	return &Snapshot{c}, nil
}

// State returns a deep copy of what the snapshot is made of: cohorts and queues by
// name, workloads by ID.
func (s *Snapshot) State() State {
	c := s.inside()
	st := State{}
	for i := range c.Cohorts {
		st.Cohorts = append(st.Cohorts, c.Cohorts[i].Clone())
	}
	for i := range c.Queues {
		st.Queues = append(st.Queues, c.Queues[i].Clone())
	}
	for w := range c.All {
		st.Admitted = append(st.Admitted, w.Facts.Clone())
	}
	return st
}

// With returns the snapshot with the edits applied in order; s is left as it is and
// shares what they do not touch. An edit of a workload costs O(log n) in the number
// of workloads; edits of the configuration cost as much as there are queues, once
// for all that follow each other. It fails with [Faults] that list every edit that
// cannot be made, each judged as if the failed ones before it were not there; paths
// begin with "edits[i]", or "edits[i:j]" for a run of edits of the configuration.
func (s *Snapshot) With(edits ...Edit) (*Snapshot, error) {
	c := s.inside()
	var faults Faults
	for i := 0; i < len(edits); {
		run := 1
		var next *cluster.Cluster
		var err error
		if edits[i].configures() {
			for i+run < len(edits) && edits[i+run].configures() {
				run++
			}
			next, err = configure(c, i, edits[i:i+run])
		} else {
			next, err = edits[i].apply(c, fmt.Sprintf("edits[%d]", i))
		}
		if err != nil {
			faults = append(faults, err.(Faults)...)
		} else {
			c = next
		}
		i += run
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return &Snapshot{c}, nil
}

func (e *Edit) configures() bool { return e.kind >= editSetQueue }

func (e *Edit) apply(c *cluster.Cluster, path string) (*cluster.Cluster, error) {
	switch e.kind {
	case editAdmit:
		return c.Admit(path, e.workload.Clone())
	case editUpdate:
		return c.Update(path, e.workload.Clone())
	case editStartEviction:
		return c.StartEviction(path, e.name)
	case editRemove:
		return c.Remove(path, e.name)
	}
	return c, nil
}

// configure applies a run of edits of the configuration, of which the first is
// number first, and validates the result.
func configure(c *cluster.Cluster, first int, edits []Edit) (*cluster.Cluster, error) {
	queues, cohorts := slices.Clone(c.Queues), slices.Clone(c.Cohorts)
	var faults Faults
	for i, e := range edits {
		queueAt := slices.IndexFunc(queues, func(q queue.Queue) bool { return q.Name == e.name })
		cohortAt := slices.IndexFunc(cohorts, func(c queue.Cohort) bool { return c.Name == e.name })
		switch {
		case e.kind == editSetQueue && queueAt >= 0:
			queues[queueAt] = e.queue
		case e.kind == editSetQueue:
			queues = append(queues, e.queue)
		case e.kind == editSetCohort && cohortAt >= 0:
			cohorts[cohortAt] = e.cohort
		case e.kind == editSetCohort:
			cohorts = append(cohorts, e.cohort)
		case e.kind == editRemoveQueue && queueAt >= 0:
			queues = slices.Delete(queues, queueAt, queueAt+1)
		case e.kind == editRemoveQueue:
			faults.Add(fmt.Sprintf("edits[%d]", first+i), "no queue %q", e.name)
		case e.kind == editRemoveCohort && cohortAt >= 0:
			cohorts = slices.Delete(cohorts, cohortAt, cohortAt+1)
		case e.kind == editRemoveCohort:
			faults.Add(fmt.Sprintf("edits[%d]", first+i), "no cohort %q", e.name)
		}
	}
	path := fmt.Sprintf("edits[%d]", first)
	if len(edits) > 1 {
		path = fmt.Sprintf("edits[%d:%d]", first, first+len(edits))
	}
	next, err := c.Configure(path, cohorts, queues)
	if err != nil {
		faults = append(faults, err.(Faults)...)
	}
	return next, faults.Err()
}

// QuotaStatus is the numbers of one node in one column, in the resource's unit.
type QuotaStatus struct {
	quota.FlavorResource
	// Nominal is the node's own quota, SubtreeQuota a cohort's with what its
	// members lend; Usage what runs, for a cohort past its members' local quotas.
	Nominal      int64 `json:"nominal"`
	SubtreeQuota int64 `json:"subtreeQuota"`
	Usage        int64 `json:"usage"`
	// Available is what can still be taken, negative when over-admitted;
	// PotentialAvailable what could be if nothing ran anywhere.
	Available          int64 `json:"available"`
	PotentialAvailable int64 `json:"potentialAvailable"`
	// Borrowed is the usage over SubtreeQuota, Lent what others need of the
	// node's idle quota.
	Borrowed int64 `json:"borrowed"`
	Lent     int64 `json:"lent"`
}

// QueueStatus returns the numbers of a queue for each flavor-resource that it has
// quota for or uses, and for those given besides, sorted by flavor and resource; ok
// is false for an unknown queue.
func (s *Snapshot) QueueStatus(name string, besides ...quota.FlavorResource) (rows []QuotaStatus, ok bool) {
	c := s.inside()
	node, ok := c.QueueNode(name)
	if !ok {
		return nil, false
	}
	return status(c, node, besides), true
}

// CohortStatus returns the numbers of a cohort for each flavor-resource for which
// it or its subtree has quota or usage; see [Snapshot.QueueStatus].
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
	for _, column := range c.Tree.Columns(node) {
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
		}
	}
	return rows
}
