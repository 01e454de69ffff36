package fair

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

// Sharing is the state of fair sharing. The zero value is ready. It may be reused, by one
// goroutine at a time.
type Sharing struct {
	s         *search.Search
	brackets  []bracket
	way       []int32 // the brackets from the root to the current queue
	queues    []fairQueue
	refused   []right.Victim // the candidates of each queue that failed the first strategy, up to the first whole workload
	refusers  search.Marks   // the queues of refused
	settled   search.Marks   // those of which a whole workload is in refused
	refusedAt []int32        // by node: the index of the first one in refused
	later     []right.Victim // with Stable or Reevaluate: all that the strategies refused, in order
	mode      source.Mode
	seen      search.Marks
	firsts    firstUsers
	climb     usage.Climb
}

// round is one of the two rounds of a search.
type round struct {
	*Sharing
	// second: each queue has one more chance, by the second strategy.
	second bool
	// again holds, if it is not the first pass, the candidates.
	again []right.Victim
}

// shareOfPreemptor returns the share of the common cohort's child on the preemptor's side.
func (f *Sharing) shareOfPreemptor(level int) quota.Share {
	return f.s.Share(f.s.Levels[level].Except)
}

// bracket holds the children of one cohort, as a heap.
type bracket struct {
	level int // index of the deepest level with a cohort that is this one or above it
	side  int // the child of that level's cohort that is this one or above it; -1 for the level's own cohort
	heap  []contender
}

// contender is a queue or a cohort in a bracket.
type contender struct {
	node    int
	at      int32 // once open: the index of its queue or bracket; -1 for a queue without candidates
	onPath  bool  // it is the preemptor's queue or above it
	open    bool
	borrows bool
	// Of its share:
	ratio, weighted float64
}

// fairQueue holds the candidates of one queue in order, for the tournament.
type fairQueue struct {
	of    source.DonorQueue
	level int // index of the level of the common cohort
	side  int // the child of the common cohort on this queue's side
	// retry is the only candidate in the second round.
	retry *right.Victim
	// sorted holds the candidates if they are in another order: by size, or by the usage of local
	// queues.
	sorted []right.Victim
	// refused holds what the strategies refused.
	refused []refusal
}

// refusal is that a workload was refused at a share of the preemptor.
type refusal struct {
	of   *cluster.Template
	ours quota.Share
}
