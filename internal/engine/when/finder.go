package when

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/usage"
)

// Finder is the state of the search for an instant. The zero value is ready. It may be
// reused, by one goroutine at a time.
type Finder struct {
	s         *search.Search
	donors    []right.Donor
	intervals []interval
	kept      []int64    // by interval and slot: the usage of the protected workloads and of all before them in the lane
	view      usage.View // of the requested columns, without the workloads that may yield at an instant
	moved     []int64    // by donor and slot: what the bound has moved in the view of the search
	scanned   []scanned
	instants  []int64
	cut       bool  // the last firstFit has used up the steps
	changed   []int // donors that changed since the last instant that was tried
	before    []int64
}

// running returns a lane of a donor.
func (f *Finder) running(donor int, lane cluster.Lane) *cluster.LaneSet {
	return f.s.Cluster.Running(f.donors[donor].Queue).Lane(lane)
}

// interval holds the workloads of one priority in a lane that are protected for the same
// duration from their reservation on, and the instants between which none of them changes.
// The lane is ordered by falling reservation, so the workloads protected at an instant come
// first, and sums give their usage.
type interval struct {
	lane     *cluster.LaneSet // nil: one instant only
	donor    int
	priority int64
	delay    int64
	// times is 1 if protected usage stays, -1 if it yields: the surplus of workloads that do
	// not yield as a whole. 0: no usage, only the order of candidates changes.
	times int64
	// Nothing changes from since to until, both included.
	since, until int64
}

// scanned is a workload that may yield at some time. Guards, rooms and protections
// from the admission on need a look at each workload.
type scanned struct {
	workload *cluster.Workload
	donor    int
	// The last instants at which the surplus and the rest are protected.
	surplus, whole int64
}
