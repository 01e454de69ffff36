package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/usage"
)

// Search is the state of the search for one request. The zero value is ready for
// [Search.Begin]; a Search may be used again, by one goroutine at a time.
type Search struct {
	Cluster *cluster.Cluster
	Request *Request
	// Now is the instant that attempts are made for: that of the request, or another one
	// that is tried.
	Now int64
	// Needs says, by slot of the request, what needs preemption.
	Needs []bool
	// View is the usage without the victims taken so far.
	View usage.View
	// Levels is the cohorts above the queue; see [Search.CollectLevels].
	Levels []Level
	// Taken is the victims taken so far, in turn.
	Taken []Victim
	// WhyNot says why the attempts failed.
	WhyNot WhyNot
	// Steps counts the workloads that were looked at.
	Steps int

	merge     merge
	bounds    [usage.Kinds]bound
	blockers  []Blocker
	columns   []int  // of the view
	needs     []bool // found by FitsAtFirst
	rest      []int64
	sum       []quotatree.Load
	exceptSum []quotatree.Load
}

// WhyNot says why attempts failed.
type WhyNot struct {
	// Shortages is what is short with everybody gone who may yield.
	Shortages []Shortage
	// NoRoom: in some attempt the quota was enough, but the room was not.
	NoRoom bool
}

// Begin makes the search ready for a request.
func (s *Search) Begin(c *cluster.Cluster, r *Request) {
	s.Cluster, s.Request, s.Now, s.Needs, s.Steps = c, r, r.Now, r.Needs, 0
	s.View.Reset(c, s.columnsOf(c, r))
	s.bounds = [usage.Kinds]bound{}
	s.Taken, s.blockers = s.Taken[:0], s.blockers[:0]
	s.WhyNot = WhyNot{Shortages: s.WhyNot.Shortages[:0]}
}

// End lets go of the cluster, so that a search at rest keeps none alive.
func (s *Search) End() {
	s.Cluster, s.Request, s.Needs = nil, nil, nil
	s.View.Release()
}

// columnsOf is what the view is about: the columns of the request and, as shares are of
// everything, in fair sharing all others of the tree.
func (s *Search) columnsOf(c *cluster.Cluster, r *Request) []int {
	s.columns = append(s.columns[:0], r.Columns...)
	if r.Fair.Enabled() {
		root := r.Queue
		for c.Tree.Parent(root) >= 0 {
			root = c.Tree.Parent(root)
		}
		for column := range c.Tree.EachColumn(root) {
			if !slices.Contains(r.Columns, column) {
				s.columns = append(s.columns, column)
			}
		}
	}
	return s.columns
}
