package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/usage"
)

// Search is the state of a search for the victims of one request. The zero value is ready for
// [Search.Begin]. A Search may be reused, by one goroutine at a time.
type Search struct {
	Cluster *cluster.Cluster
	Request *Request
	// Now is the instant of the attempts: the request's, or another one that package when
	// tries.
	Now int64
	// Needs says, by slot of the request, whether preemption is needed.
	Needs []bool
	// View is the usage without the victims taken so far.
	View usage.View
	// Levels are the cohorts above the queue; see [Search.CollectLevels].
	Levels []Level
	// Taken lists the victims taken so far, in the order of taking.
	Taken []Victim
	// Tried is how many of them there were before some were put back, and Borrowing is of the
	// attempt that took them.
	Tried     int
	Borrowing bool
	// Exhaust makes an attempt take everybody that it permits, whether or not the request fits;
	// they stay taken.
	Exhaust bool
	// WhyNot says why the attempts failed.
	WhyNot WhyNot
	// Steps counts the workloads looked at.
	Steps int
	// Trials counts how often it was asked whether the request fits, in all searches so far.
	Trials int

	merge     merge
	bounds    [usage.Kinds]bound
	extent    cluster.Extent // of the last bound by rules
	blockers  []Blocker
	replay    []Victim // of Replay
	leaving   []Victim // of FindLeaving
	replicas  ReplicaRoom
	removed   map[replicasOf]int64 // from the room, and not with their workload
	columns   []int                // of the view
	needs     []bool               // found by FitsAtFirst
	rest      []int64
	sum       []quotatree.Load
	exceptSum []quotatree.Load
	stability stability

	entitledAtFirst bool // see noteEntitled
	added           []int64
}

// WhyNot says why the attempts failed.
type WhyNot struct {
	// Shortages is what is short without all workloads that may yield.
	Shortages []Shortage
	// NoRoom: in some attempt the quota was enough, but there was no room.
	NoRoom bool
}

// Begin prepares the search for a request.
func (s *Search) Begin(c *cluster.Cluster, r *Request) {
	s.Cluster, s.Request, s.Now, s.Needs, s.Steps = c, r, r.Now, r.Needs, 0
	s.View.Reset(c, s.columnsOf(c, r))
	s.bounds = [usage.Kinds]bound{}
	s.Taken, s.blockers = s.Taken[:0], s.blockers[:0]
	s.stability.known = false
	s.beginRoom()
	s.WhyNot = WhyNot{Shortages: s.WhyNot.Shortages[:0]}
}

// End drops the references to the cluster, so that an idle search keeps none in memory.
func (s *Search) End() {
	s.Cluster, s.Request, s.Needs, s.replicas = nil, nil, nil, nil
	s.View.Release()
}

// columnsOf returns the columns of the view: those of the request and, if shares are compared,
// all others of the tree, because shares count them.
func (s *Search) columnsOf(c *cluster.Cluster, r *Request) []int {
	s.columns = append(s.columns[:0], r.Columns...)
	if r.Fair.Enabled() || r.RulesOfShares {
		for column := range c.Tree.EachColumn(c.Tree.Root(r.Queue)) {
			if !slices.Contains(r.Columns, column) {
				s.columns = append(s.columns, column)
			}
		}
	}
	return s.columns
}
