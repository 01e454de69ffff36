package search

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/usage"
)

// Search is the state of a search for the victims of one request. The zero value is ready for
// [Search.Begin]. A Search may be reused, by one goroutine at a time.
type Search struct {
	right.Case
	// Source has the candidates.
	Source source.Merge
	// Tried is how many victims, and replicas, there were before some were put back, and Borrowing is of the
	// attempt that took them.
	Tried     int
	Borrowing bool
	// WhyNot says why the attempts failed.
	WhyNot WhyNot
	// Trials counts how often it was asked whether the request fits, in all searches so far.
	Trials int
	// Awaits: the request fits once what terminates in the room, and the victims, are gone.
	Awaits bool

	bounds    [usage.Kinds]bound
	inTree    bool               // the last bound was one by rules in the whole tree
	remaining []right.Victim     // of Remaining
	wholes    wholes             // of putBackOnce
	leaving   []source.Candidate // of FindLeaving
	needs     []bool             // found by FitsAtFirst
	sum       []int64            // by slot
	exceptSum []int64
	room
}

// WhyNot says why the attempts failed.
type WhyNot struct {
	// Shortages is what is short without all workloads that may yield.
	Shortages []Shortage
	// NoRoom: in some attempt the quota was enough, but there was no room.
	NoRoom bool
}

// Shortage is what a slot lacks, and the node of which the quota or limit is exceeded. NeverYields: the quota within which
// what never yields has to be.
type Shortage struct {
	Slot        int
	Missing     int64
	Bound       int
	NeverYields bool
}

// Begin prepares the search for a request.
func (s *Search) Begin(c *cluster.Cluster, r *right.Request) {
	s.Case.Begin(c, r)
	s.bounds = [usage.Kinds]bound{}
	s.room.begin(r.Room)
	s.Awaits = false
	s.WhyNot = WhyNot{Shortages: s.WhyNot.Shortages[:0]}
}

// BeginAt begins the search for the same request at another instant. All victims must be put
// back. What does not depend on time is kept.
func (s *Search) BeginAt(now int64) { s.Now = now }

// End drops the references to the cluster, so that an idle search keeps none in memory.
func (s *Search) End() {
	s.Case.End()
	s.replicas, s.room.leaving = nil, nil
}

// bound caches one upper bound: how far it was computed, and for which permission. It is
// valid while the permission is unchanged.
type bound struct {
	permission right.Permission // of the priority class; the permissions of other classes do not depend on the attempt
	started    bool
	complete   bool // false: computing stopped because the request fits already
	hopeless   bool // also for a request that may borrow
	donors     int  // in need: the queues added up so far
}
