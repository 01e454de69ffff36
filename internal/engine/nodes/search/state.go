package search

import (
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/trace"
)

// steps searches one domain at a time.
type steps struct {
	place.Board
	trace     *trace.Recorder // nil: no recording
	placeable int             // the largest number of members that had a place in any domain
	enough    int             // the number that must have one in the domain that was searched last
	victims   []*state.Unit
	floors    []int32 // the priorities that lower searches
}

// domains searches one domain after the other.
type domains struct {
	steps
	sums   sums
	short  []room.Domain // without room
	single []room.Domain // for a single pod: the nodes on which it may run
}

// sums is the memory of bounds by sums.
type sums struct {
	least      []int64 // by slot: what the least number of members needs at least
	missing    []int64 // by slot
	priorities []int32
	yielding   []yielding
}

// Search is the working memory of one decision at a time. The zero value is ready.
type Search struct {
	usable
	then  *then // the memory of decisions at other instants
	spent room.Cost
}

// then is a decision at another instant.
type then struct {
	domains
	request ask.Request
}

// yielding is a running pod of which the unit could be a victim that violates no budget.
type yielding struct {
	pod     *state.Pod
	started int64 // of its unit
}

// usable has the nodes on which a member may run.
type usable struct {
	domains
	isUsable []bool
	smallest []int64 // by slot: what the smallest member needs
}
